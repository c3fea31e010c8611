# Man pages and shell completions, which the command line writes from its own description, and their installation.

set(SECEQUIV_DOCUMENTS ${CMAKE_BINARY_DIR}/share)
add_custom_target(secequiv_docs
  COMMAND secequiv --write-documents ${SECEQUIV_DOCUMENTS}
  COMMENT "Man pages and completions under ${SECEQUIV_DOCUMENTS}"
  VERBATIM)

# Without `cmake --build ... --target secequiv_docs` there is nothing to install; this is not an error.
install(DIRECTORY ${SECEQUIV_DOCUMENTS}/man DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} COMPONENT documents OPTIONAL)
install(DIRECTORY ${SECEQUIV_DOCUMENTS}/bash-completion ${SECEQUIV_DOCUMENTS}/zsh ${SECEQUIV_DOCUMENTS}/fish
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} COMPONENT documents OPTIONAL)
