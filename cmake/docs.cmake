# Man pages and shell completions, made by the command line of its own description; what an installation takes of them.

set(SECEQUIV_DOCUMENTS ${CMAKE_BINARY_DIR}/share)
add_custom_target(secequiv_docs
  COMMAND secequiv --write-documents ${SECEQUIV_DOCUMENTS}
  COMMENT "Man pages and completions under ${SECEQUIV_DOCUMENTS}"
  VERBATIM)

# Without `cmake --build ... --target secequiv_docs` there is nothing to install, which is no error.
install(DIRECTORY ${SECEQUIV_DOCUMENTS}/man DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} COMPONENT documents OPTIONAL)
install(DIRECTORY ${SECEQUIV_DOCUMENTS}/bash-completion ${SECEQUIV_DOCUMENTS}/zsh ${SECEQUIV_DOCUMENTS}/fish
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} COMPONENT documents OPTIONAL)
