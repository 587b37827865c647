/* clpixc: `clpix` without Python's start, for commands that a server runs; all others it hands to `clpix` itself.

   `clpix server client PATH` compiles it, with what address.py says as macros:
     PACKAGE, PYTHON, SCRIPT   the program's folder, its Python, and its script ("" where there is none)
     PREFIXES, NAMES           variables in which the server has to be like its client
     ALONE, ALONE_WITH, VIDEOS, OWN, MANY   commands that no server runs
   The messages are those of gpuops/process/requests.py. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { VERSION = 1, LARGEST = 212992, PATIENCE = 2000, MORE_PATIENCE = 30000 };
static const char *const prefixes[] = {PREFIXES, NULL}, *const names[] = {NAMES, NULL};
static const char *const alone[] = {ALONE, NULL}, *const alone_with[] = {ALONE_WITH, NULL}, *const videos[] = {VIDEOS, NULL};
static const char *const own[] = {OWN, NULL};
static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

/* A pidfd of the process that runs the command; -1 until there is one. */
static volatile sig_atomic_t child = -1;

/* -- Ends -------------------------------------------------------------------------------------------------- */

static void end(const char *text, int code) {
  dprintf(2, "clpix: error: %s\n", text);
  _exit(code);
}

static int failure(char **arguments) { return arguments[1] && !strcmp(arguments[1], "compare") ? 2 : 1; }

/* Runs the command without the server, in this process. */
static void run_cold(char **arguments) {
  int count = 0;
  while (arguments[count]) count++;
  char **words = calloc(count + 4, sizeof *words);
  if (words && *SCRIPT) {
    memcpy(words, arguments, count * sizeof *words);
    words[0] = (char *)SCRIPT;
    execv(SCRIPT, words);
  }
  if (words) {
    words[0] = (char *)PYTHON, words[1] = "-m", words[2] = "clpix";
    memcpy(words + 3, arguments + 1, count * sizeof *words);
    execv(PYTHON, words);
  }
  end("clpix cannot be run: it has been moved or removed since `clpix server client` made this program", 1);
}

static void set_signals(void (*handler)(int));

/* The command cannot be run by the server; nothing of it has begun. */
static void give_up(char **arguments, const char *mode, const char *why) {
  set_signals(SIG_DFL);
  if (!strcmp(mode, "require")) {
    char text[600];
    snprintf(text, sizeof text, "%s (CLPIX_SERVER=require)", why);
    end(text, failure(arguments));
  }
  setenv("CLPIX_SERVER", "off", 1);
  run_cold(arguments);
}

/* -- Signals ----------------------------------------------------------------------------------------------- */

static void send_on(int number) { syscall(SYS_pidfd_send_signal, (int)child, number, NULL, 0); }

static void forward(int number) {
  int before = errno;
  if (child >= 0) send_on(number == SIGTSTP ? SIGSTOP : number);
  if (number == SIGTSTP) {
    raise(SIGSTOP);
  } else if (child < 0 && number != SIGCONT) { /* nothing has begun */
    signal(number, SIG_DFL);
    raise(number);
  }
  errno = before;
}

static void set_signals(void (*handler)(int)) {
  for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++) {
    struct sigaction action;
    if (sigaction(forwarded[i], NULL, &action) || action.sa_handler == SIG_IGN) continue;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(forwarded[i], &action, NULL);
  }
}

static uint64_t ignored_signals(void) {
  uint64_t bits = 0;
  for (int number = 1; number <= 64; number++) {
    struct sigaction action;
    if (number != SIGPIPE && number != SIGXFSZ && !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN)
      bits |= 1ull << (number - 1);
  }
  return bits;
}

static uint64_t blocked_signals(void) {
  uint64_t bits = 0;
  sigset_t set;
  sigprocmask(SIG_BLOCK, NULL, &set);
  for (int number = 1; number <= 64; number++)
    if (sigismember(&set, number) == 1) bits |= 1ull << (number - 1);
  return bits;
}

/* -- Which commands ---------------------------------------------------------------------------------------- */

static int is_one_of(const char *word, size_t length, const char *const *list) {
  for (; *list; list++)
    if (strlen(*list) == length && !memcmp(*list, word, length)) return 1;
  return 0;
}

static int is_alone(char **arguments) {
  const char *command = "";
  int count = 0;
  for (char **one = arguments + 1; *one; one++, count++) {
    const char *word = *one;
    size_t length = strlen(word);
    if (!*command && word[0] != '-') command = word;
    if (word[0] == '@' || is_one_of(word, strcspn(word, "="), alone_with)) return 1;
    for (const char *const *part = own; *part; part++)
      if (strstr(word, *part)) return 1;
    for (const char *const *video = videos; *video; video++)
      if (length >= strlen(*video) && !strcasecmp(word + length - strlen(*video), *video)) return 1;
  }
  return count > MANY || is_one_of(command, strlen(command), alone) || getenv("_CLPIX_COMPLETE");
}

static int reads_terminal(char **arguments) {
  for (; *arguments; arguments++)
    if (!strcmp(*arguments, "-")) return isatty(0);
  return 0;
}

/* -- The address: as in address.py --------------------------------------------------------------------------- */

static int is_private(const char *folder) {
  struct stat status;
  return !lstat(folder, &status) && S_ISDIR(status.st_mode) && status.st_uid == geteuid() && !(status.st_mode & 077);
}

static int is_keyed(const char *entry) {
  for (const char *const *prefix = prefixes; *prefix; prefix++)
    if (!strncmp(entry, *prefix, strlen(*prefix)) && strcspn(entry, "=") >= strlen(*prefix)) return 1;
  return is_one_of(entry, strcspn(entry, "="), names);
}

static int in_order(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static uint64_t digest = 0xCBF29CE484222325u;

static void add(const char *data, size_t length) {
  for (size_t i = 0; i < length; i++) digest = (digest ^ (unsigned char)data[i]) * 0x100000001B3u;
}

/* Writes the path of the server's socket; returns whether there is one. */
static int find_socket(char *path, size_t size) {
  static const char *const places[] = {"cgroup", "mnt", "net", "pid", "user"};
  char folder[200], file[40], target[100];
  const char *base = getenv("XDG_RUNTIME_DIR");
  int length;
  if (base && base[0] == '/' && is_private(base)) {
    length = snprintf(folder, sizeof folder, "%s/clpix", base);
  } else {
    base = getenv("TMPDIR");
    length = snprintf(folder, sizeof folder, "%s/clpix-%d", base && base[0] == '/' ? base : "/tmp", (int)geteuid());
  }
  if (length >= (int)sizeof folder || !is_private(folder)) return 0;
  add(PACKAGE, sizeof PACKAGE), add(PYTHON, sizeof PYTHON - 1);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    snprintf(file, sizeof file, "/proc/self/ns/%s", places[i]);
    ssize_t got = readlink(file, target, sizeof target);
    if (got < 0) return 0;
    add("", 1), add(target, got);
  }
  size_t count = 0, n = 0;
  while (environ[count]) count++;
  char **keyed = calloc(count + 1, sizeof *keyed);
  if (!keyed) return 0;
  for (char **entry = environ; *entry; entry++)
    if (strchr(*entry, '=') && is_keyed(*entry)) keyed[n++] = *entry;
  qsort(keyed, n, sizeof *keyed, in_order);
  for (size_t i = 0; i < n; i++) add("", 1), add(keyed[i], strlen(keyed[i]));
  free(keyed);
  return snprintf(path, size, "%s/%016llx.sock", folder, (unsigned long long)digest) < (int)size;
}

/* -- The request ------------------------------------------------------------------------------------------- */

static char request[LARGEST];
static size_t used;

static int put(const void *data, size_t length) {
  if (used + length > sizeof request) return 0;
  memcpy(request + used, data, length);
  used += length;
  return 1;
}

static int put_number(uint64_t value, int bytes) {
  unsigned char data[8];
  for (int i = 0; i < bytes; i++) data[i] = value >> (8 * i);
  return put(data, bytes);
}

static int make_request(char **arguments, int closed) {
  uint32_t count = 0;
  while (arguments[count]) count++;
  mode_t mask = umask(077);
  umask(mask);
  int fits = put("CLPX", 4) && put_number(VERSION, 1) && put_number(0, 1) && put_number(closed, 1) && put_number(0, 1) &&
             put_number(mask, 4) && put_number(ignored_signals(), 8) && put_number(blocked_signals(), 8) &&
             put_number(count, 4);
  const char *program = *SCRIPT ? SCRIPT : arguments[0];
  fits = fits && put(program, strlen(program) + 1);
  for (char **word = arguments + 1; fits && *word; word++) fits = put(*word, strlen(*word) + 1);
  for (char **entry = environ; fits && *entry; entry++) fits = put(*entry, strlen(*entry) + 1);
  return fits;
}

/* Sends the request with the standard descriptors that are open and the current folder. */
static int send_request(int connection, int closed) {
  int numbers[4], count = 0, folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return 0;
  for (int number = 0; number < 3; number++)
    if (!(closed >> number & 1)) numbers[count++] = number;
  numbers[count++] = folder;
  char control[CMSG_SPACE(sizeof numbers)] = {0};
  struct iovec content = {request, used};
  struct msghdr message = {0};
  message.msg_iov = &content, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = CMSG_SPACE(count * sizeof *numbers);
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(count * sizeof *numbers);
  memcpy(CMSG_DATA(head), numbers, count * sizeof *numbers);
  int sent = sendmsg(connection, &message, MSG_NOSIGNAL) == (ssize_t)used;
  close(folder);
  return sent;
}

/* Python sets LC_CTYPE in the C locale (PEP 538), and so has the server. */
static void coerce_locale(void) {
  static const char *const targets[] = {"C.UTF-8", "C.utf8", "UTF-8"};
  const char *all = getenv("LC_ALL"), *wanted = getenv("PYTHONCOERCECLOCALE"), *now = setlocale(LC_CTYPE, "");
  if ((all && *all) || (wanted && !strcmp(wanted, "0")) || !now || strcmp(now, "C")) return;
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    if (setlocale(LC_CTYPE, targets[i])) {
      setenv("LC_CTYPE", targets[i], 1);
      return;
    }
}

int main(int count, char **arguments) {
  (void)count;
  const char *given = getenv("CLPIX_SERVER");
  if (!given || !*given || !strcmp(given, "off")) run_cold(arguments);
  char mode[8] = "";
  if (!strcmp(given, "auto") || !strcmp(given, "require")) strcpy(mode, given);
  if (!*mode || is_alone(arguments)) run_cold(arguments); /* which complains about other modes */
  if (getuid() != geteuid() || getgid() != getegid() || getenv("LD_PRELOAD") || reads_terminal(arguments)) run_cold(arguments);
  int closed = 0;
  for (int number = 0; number < 3; number++) closed |= (fcntl(number, F_GETFD) < 0) << number;
  coerce_locale();
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!find_socket(address.sun_path, sizeof address.sun_path)) give_up(arguments, mode, "no server runs");
  if (!make_request(arguments, closed)) give_up(arguments, mode, "the arguments or the environment are too long for a server");
  set_signals(forward);
  int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  struct ucred peer;
  socklen_t size = sizeof peer;
  int wait = strcmp(mode, "auto") ? MORE_PATIENCE : PATIENCE;
  struct timeval patience = {wait / 1000, 0};
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (connect(connection, (struct sockaddr *)&address, sizeof address)) give_up(arguments, mode, "no server runs");
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.uid != geteuid())
    give_up(arguments, mode, "the server is another user's");
  if (!send_request(connection, closed)) give_up(arguments, mode, "no server can be asked");
  unsigned char answer[512];
  struct pollfd waiting = {connection, POLLIN, 0};
  int ready;
  while ((ready = poll(&waiting, 1, wait)) < 0 && errno == EINTR) continue;
  ssize_t got = ready > 0 ? recv(connection, answer, sizeof answer - 1, 0) : -1;
  if (got != 5 || answer[0] != 1) {
    char text[560];
    answer[got > 0 ? got : 0] = 0;
    snprintf(text, sizeof text, "the server does not run it: %s", got > 1 ? (char *)answer + 1 : "it does not answer");
    close(connection);
    give_up(arguments, mode, text);
  }
  pid_t pid = answer[1] | answer[2] << 8 | answer[3] << 16 | (pid_t)answer[4] << 24;
  child = syscall(SYS_pidfd_open, pid, 0);
  if (child < 0 || send(connection, "G", 1, MSG_NOSIGNAL) != 1) {
    child = -1;
    close(connection);
    give_up(arguments, mode, "no server can be asked");
  }
  while ((got = recv(connection, answer, 4, 0)) < 0 && errno == EINTR) continue;
  if (got != 4) {
    waiting.fd = child;
    poll(&waiting, 1, PATIENCE);
    end("the server ended while the command ran: look at what is there before you run it again (see clpix server log)",
        failure(arguments));
  }
  int status = answer[0] | answer[1] << 8 | answer[2] << 16 | answer[3] << 24;
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
  }
  _exit(WEXITSTATUS(status));
}
