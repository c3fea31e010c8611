# Makes man pages and shell completions from the command line's description of itself, and installs them.

set(SECEQUIV_DOCUMENTS ${CMAKE_BINARY_DIR}/share)
add_custom_target(secequiv_docs
  COMMAND python3 ${PROJECT_SOURCE_DIR}/scripts/gen_documents $<TARGET_FILE:secequiv> ${SECEQUIV_DOCUMENTS}
  COMMENT "Man pages and completions under ${SECEQUIV_DOCUMENTS}"
  VERBATIM)

# Without `cmake --build ... --target secequiv_docs` there is nothing to install; that is not an error.
install(DIRECTORY ${SECEQUIV_DOCUMENTS}/man DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} COMPONENT documents OPTIONAL)
install(DIRECTORY ${SECEQUIV_DOCUMENTS}/bash-completion ${SECEQUIV_DOCUMENTS}/zsh ${SECEQUIV_DOCUMENTS}/fish
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} COMPONENT documents OPTIONAL)
