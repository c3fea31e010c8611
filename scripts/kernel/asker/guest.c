#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "asker.h"

// The machine is started with -no-reboot, so this ends it.
static void give_up(const char* what) {
  printf("asker: %s: %s\n", what, strerror(errno));
  fflush(stdout);
  reboot(RB_AUTOBOOT);
  _exit(1);
}

// Loads the modules whose paths the file lists, in that order. A module for devices that this
// machine does not have may fail.
static void load_modules(const char* list) {
  FILE* paths = fopen(list, "r");
  if (paths == NULL) return;
  char path[256];
  while (fscanf(paths, "%255s", path) == 1) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file == -1 || (syscall(SYS_finit_module, file, "", 0) != 0 && errno != EEXIST))
      printf("asker: %s: %s\n", path, strerror(errno));
    if (file != -1) close(file);
  }
  fclose(paths);
}

// The host knows only one port, so the first one is the right one.
static int first_port(void) {
  DIR* devices = opendir("/dev");
  int port = -1;
  for (struct dirent* one; port == -1 && devices != NULL && (one = readdir(devices)) != NULL;) {
    char path[300];
    if (strncmp(one->d_name, "vport", 5) != 0) continue;
    snprintf(path, sizeof path, "/dev/%s", one->d_name);
    port = open(path, O_RDWR | O_CLOEXEC);
  }
  if (devices != NULL) closedir(devices);
  return port;
}

static void write_file(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file == -1) return;  // an optional setting
  (void)!write(file, text, strlen(text));
  close(file);
}

int open_port(void) {
  if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) != 0) give_up("/dev");
  if (mount("proc", "/proc", "proc", 0, NULL) != 0) give_up("/proc");
  if (mount("sysfs", "/sys", "sysfs", 0, NULL) != 0) give_up("/sys");
  write_file("/proc/sys/debug/exception-trace", "0");  // children end by traps
  load_modules("/modules");
  const struct timespec pause = {0, 2000000};
  for (int tries = 0; tries < 10000; ++tries) {
    const int port = first_port();
    if (port != -1) return port;
    nanosleep(&pause, NULL);
  }
  errno = ENODEV;
  give_up("no port to the host");
  return -1;
}
