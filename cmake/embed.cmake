# cmake -D OUTPUT=file.cc -D NAMESPACE=a::b -D FILES=name=path,... -P embed.cmake
# Writes a C++ source. For each file it defines a function `std::string_view NAME()` in the namespace, which returns the file's bytes.
string(REPLACE "," ";" files "${FILES}")
set(text "#include <string_view>\n\nnamespace ${NAMESPACE} {\n")
foreach(file ${files})
  string(REGEX MATCH "^([a-z_]+)=(.*)$" matched "${file}")
  set(name ${CMAKE_MATCH_1})
  file(READ ${CMAKE_MATCH_2} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND text "namespace {\nconstexpr char k_${name}[] = {${bytes}};\n}\nstd::string_view ${name}();\n"
                     "std::string_view ${name}() { return {k_${name}, sizeof k_${name}}; }\n")
endforeach()
file(WRITE ${OUTPUT}.new "${text}}  // namespace\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
