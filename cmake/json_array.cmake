# cmake -D OUTPUT=file.json -D FILES=path,... -P json_array.cmake
# Writes a JSON array of the documents in the files.
string(REPLACE "," ";" files "${FILES}")
set(text "")
foreach(file ${files})
  file(READ ${file} document)
  string(APPEND text "${separator}${document}")
  set(separator ",")
endforeach()
file(WRITE ${OUTPUT} "[${text}]\n")
