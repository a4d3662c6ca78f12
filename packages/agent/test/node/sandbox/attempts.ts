import type { SandboxOptions } from '@cobbler/agent/sandbox';
import { isRoot, secrets } from './world.ts';

/** One attempt of a command to leave its sandbox. */
export interface Attempt {
  readonly name: string;
  /**
   * A shell script. Its variables: HOME, BASE (contains everything), OUT (a directory outside the workspace), VICTIM (the
   * id of a process with a secret), PORT, ABSTRACT (servers that tell a secret), ID (of this machine), NODE.
   */
  readonly script: string;
  /**
   * How its success shows: the command printed the secret (default) or something, a file outside the sandbox changed
   * (a path below BASE, or an absolute one), or a process survived.
   */
  readonly won?: RegExp | string | 'survivor';
  readonly sandbox?: Partial<SandboxOptions>;
}

const connect = (to: string) =>
  `"$NODE" -e 'require("net").connect(${to}).on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))'`;
const perl = (code: string) => `perl -e '${code}'`;
const project = 'home/project';

const reads: readonly Attempt[] = [
  ...secrets.map((path) => ({ name: `reads ~/${path}`, script: `cat "$HOME/${path}"` })),
  { name: 'reads the git configuration with its keys', script: 'git config --global --list' },
  { name: 'reads a file outside by its path', script: 'cat "$OUT/secret"' },
  { name: 'reads a file outside through ..', script: 'cat ../.ssh/id_ed25519' },
  { name: 'reads through a symbolic link of the workspace', script: 'cat out/secret' },
  { name: 'reads through a new symbolic link', script: 'ln -s "$HOME/.ssh" keys; cat keys/id_ed25519' },
  { name: 'reads through /proc/self/root', script: 'cat "/proc/self/root$HOME/.ssh/id_ed25519"' },
  { name: 'reads through /proc/self/cwd/..', script: 'cat /proc/self/cwd/../.ssh/id_ed25519' },
  { name: 'reads the root of another process', script: 'cat "/proc/$VICTIM/root$HOME/.ssh/id_ed25519"' },
  { name: 'reads the directory of another process', script: 'cat "/proc/$VICTIM/cwd/.ssh/id_ed25519"' },
  { name: 'reads an open file of another process', script: 'cat "/proc/$VICTIM/fd/3"' },
  { name: 'reads the environment of another process', script: 'tr "\\0" "\\n" < "/proc/$VICTIM/environ"' },
  {
    name: 'reads the environment of every process',
    script: 'cat /proc/*/environ | tr "\\0" "\\n" | grep -a token',
  },
  {
    name: 'reads the arguments of other processes',
    script: 'cat /proc/*/cmdline | tr "\\0" "\\n" | grep -a token',
  },
  { name: 'searches the home directory', script: 'grep -rh token "$HOME"' },
  { name: 'finds keys by name', script: 'find "$BASE" -name id_ed25519 -exec cat {} +' },
  {
    name: 'packs the home directory',
    script: 'tar cf - -C "$HOME" .ssh | strings -a || tar cf - -C "$HOME" .ssh | cat',
  },
  { name: 'reads a shared memory file', script: 'cat "$SHM"' },
  { name: 'reads /var/tmp', script: 'cat "$VARTMP"' },
  { name: 'lists /tmp', script: 'ls "$(dirname "$BASE")"; ls "$BASE"', won: /outside/ },
  ...(isRoot ? [{ name: 'reads the password file', script: 'cat /etc/shadow', won: /^root:/m }] : []),
];

const connections: readonly Attempt[] = [
  {
    name: 'connects to a server on loopback',
    script: connect('{ host: "127.0.0.1", port: +process.env.PORT }'),
  },
  {
    name: 'connects to a server by name',
    script: connect('{ host: "localhost", family: 4, port: +process.env.PORT }'),
  },
  { name: 'connects to a socket file', script: connect('process.env.BASE + "/socket"') },
  { name: 'connects to an abstract socket', script: connect('"\\0" + process.env.ABSTRACT') },
  {
    name: 'sees the network interfaces of the machine',
    script: 'ls /sys/class/net /proc/net; cat /proc/net/dev | grep -v lo: | tail -n +3',
    won: /:\s+\d/,
  },
  {
    name: 'sees the connections of the machine',
    script: `printf ':%04X' "$PORT" > port; grep -iFf port /proc/net/tcp`,
    won: /0100007F/,
  },
  {
    name: 'sees the abstract sockets of the machine',
    script: 'grep -c "$ABSTRACT" /proc/net/unix',
    won: /^[1-9]/m,
  },
];

const processes: readonly Attempt[] = [
  { name: 'kills another process', script: 'kill -9 "$VICTIM" && echo KILLED', won: /KILLED/ },
  { name: 'sees another process', script: 'kill -0 "$VICTIM" && echo SEEN', won: /SEEN/ },
  {
    name: 'traces another process',
    script: perl('print "TRACED" if 0 == syscall(101, 16, $ENV{VICTIM} + 0, 0, 0)'),
    won: /TRACED/,
  },
  {
    name: 'opens the memory of another process',
    script: perl('print "OPENED" if open(F, "<", "/proc/$ENV{VICTIM}/mem")'),
    won: /OPENED/,
  },
  {
    name: 'changes the priority of another process',
    script: 'renice -n 5 -p "$VICTIM" && echo CHANGED',
    won: /CHANGED/,
  },
  {
    name: 'outlives the command in its own session',
    script: 'env -i setsid sh -c "sleep $ID & true"; sleep 0.3',
    won: 'survivor',
  },
  {
    name: 'outlives the command as a daemon',
    script: 'env -i setsid sh -c "(setsid sleep $ID &) &"; sleep 0.3',
    won: 'survivor',
  },
  {
    name: 'gains rights from programs that have them',
    script: 'grep NoNewPrivs /proc/self/status',
    won: /NoNewPrivs:\s+0/,
  },
  { name: 'creates a namespace of its own', script: 'unshare -Ur true && echo CREATED', won: /CREATED/ },
  ...(isRoot
    ? [
        { name: 'has capabilities', script: 'grep CapEff /proc/self/status', won: /CapEff:\s+0*[1-9a-f]/ },
        {
          name: 'changes a setting of the kernel',
          script: 'cat /proc/sys/kernel/panic > v; cat v > /proc/sys/kernel/panic && echo CHANGED',
          won: /CHANGED/,
        },
        {
          name: 'changes the program that handles crashes',
          script:
            'cat /proc/sys/kernel/core_pattern > v; cat v > /proc/sys/kernel/core_pattern && echo CHANGED',
          won: /CHANGED/,
        },
        { name: 'creates a device', script: 'mknod "$OUT/null" c 1 3 && echo CREATED', won: /CREATED/ },
        {
          name: 'changes a file of the system',
          script: 'touch -c /etc/hostname && echo CHANGED',
          won: /CHANGED/,
        },
        {
          name: 'opens a device of the machine',
          script:
            '[ -e /dev/fuse ] || [ -e /dev/loop-control ] || [ -e /dev/net ] || [ -e /dev/vda ] || [ -e /dev/mem ] || [ -e /dev/mqueue ] || [ -e /dev/kmsg ] && echo SEEN; ls /dev',
          won: /SEEN/,
        },
      ]
    : []),
];

const outside = `outside/target`;
const writes: readonly Attempt[] = [
  { name: 'writes outside by path', script: 'echo evil > "$OUT/target"', won: outside },
  { name: 'writes outside through ..', script: 'echo evil > ../../outside/target', won: outside },
  { name: 'writes outside through a link of the workspace', script: 'echo evil > out/target', won: outside },
  { name: 'writes outside through a new link', script: 'ln -s "$OUT/target" l; echo evil > l', won: outside },
  { name: 'writes outside through a hard link', script: 'ln "$OUT/target" h; echo evil > h', won: outside },
  { name: 'renames a file over one outside', script: 'echo evil > x; mv x "$OUT/target"', won: outside },
  { name: 'deletes a file outside', script: 'rm -f "$OUT/target"', won: outside },
  {
    name: 'writes through the root of a process',
    script: 'echo evil > "/proc/self/root$OUT/target"',
    won: outside,
  },
  {
    name: 'changes a mode outside',
    script: 'chmod 777 "$OUT/target" && stat -c MODE%a out/target',
    won: /MODE777/,
  },
  { name: 'writes a start file of the shell', script: 'echo evil >> "$HOME/.bashrc"', won: 'home/.bashrc' },
  {
    name: 'adds a key for logins',
    script: 'echo evil >> "$HOME/.ssh/authorized_keys"',
    won: 'home/.ssh/authorized_keys',
  },
  {
    name: 'changes the git configuration',
    script: 'git config --global core.pager evil',
    won: 'home/.gitconfig',
  },
  {
    name: 'adds a program to ~/.local/bin',
    script: 'mkdir -p "$HOME/.local/bin"; echo evil > "$HOME/.local/bin/git"',
    won: 'home/.local/bin/git',
  },
  {
    name: 'changes a program of a toolchain',
    script: 'echo evil >> "$(command -v tool)"',
    won: 'home/.nvm/versions/node/v1/bin/tool',
  },
  {
    name: 'adds a program to a toolchain',
    script: 'echo evil > "$(dirname "$(command -v tool)")/git"',
    won: 'home/.nvm/versions/node/v1/bin/git',
  },
  {
    name: 'adds a program to the desktop session',
    script: 'mkdir -p "$HOME/.config/autostart"; echo evil > "$HOME/.config/autostart/x"',
    won: 'home/.config/autostart/x',
  },
  { name: 'leaves a file in the shared memory', script: 'echo evil > "$SHM"', won: '/dev/shm/world-ID' },
  { name: 'leaves a file in /var/tmp', script: 'echo evil > "$VARTMP"', won: '/var/tmp/world-ID' },
  { name: 'leaves a file in /tmp', script: 'echo evil > "$BASE/left"', won: 'left' },
];

const git = `${project}/.git`;
const guarded: readonly Attempt[] = [
  { name: 'plants a git hook', script: 'echo evil > .git/hooks/pre-commit', won: `${git}/hooks/pre-commit` },
  { name: 'sets the directory of git hooks', script: 'git config core.hooksPath /tmp', won: `${git}/config` },
  {
    name: 'sets a monitor of git',
    script: 'printf "[core]\\nfsmonitor = evil\\n" >> .git/config',
    won: `${git}/config`,
  },
  {
    name: 'plants a common directory of git',
    script: 'mkdir c; echo ../c > .git/commondir',
    won: `${git}/commondir`,
  },
  { name: 'breaks HEAD', script: 'echo x > .git/HEAD', won: `${git}/HEAD` },
  { name: 'renames .git', script: 'mv .git old', won: `${git}/HEAD` },
  { name: 'deletes .git', script: 'rm -rf .git', won: `${git}/HEAD` },
  {
    name: 'replaces .git by a copy with a hook',
    script: 'mv .git old && cp -r old .git; echo evil > .git/hooks/pre-commit',
    won: `${git}/hooks/pre-commit`,
  },
  {
    name: 'links a git hook',
    script: 'ln -s /bin/false .git/hooks/post-checkout',
    won: `${git}/hooks/post-checkout`,
  },
  { name: 'plants a repository', script: 'git init -q --bare planted', won: `${project}/planted/HEAD` },
  {
    name: 'plants a repository in a directory',
    script: 'git init -q sub/planted',
    won: `${project}/sub/planted/.git`,
  },
  { name: 'plants a .git file', script: 'echo "gitdir: /tmp" > sub/.git', won: `${project}/sub/.git` },
  { name: 'changes instructions', script: 'echo evil >> AGENTS.md', won: `${project}/AGENTS.md` },
  { name: 'replaces instructions', script: 'echo evil > x; mv -f x AGENTS.md', won: `${project}/AGENTS.md` },
  {
    name: 'changes instructions through a hard link',
    script: 'ln AGENTS.md h; echo evil >> h',
    won: `${project}/AGENTS.md`,
  },
  {
    name: 'changes instructions through their link',
    script: 'echo evil >> CLAUDE.md',
    won: `${project}/docs/rules.md`,
  },
  {
    name: 'changes the target of a link',
    script: 'echo evil >> docs/rules.md',
    won: `${project}/docs/rules.md`,
  },
  {
    name: 'replaces a link to instructions',
    script: 'rm CLAUDE.md; echo evil > CLAUDE.md',
    won: `${project}/CLAUDE.md`,
  },
  {
    name: 'changes a workflow',
    script: 'echo evil >> .github/workflows/ci.yml',
    won: `${project}/.github/workflows/ci.yml`,
  },
  {
    name: 'replaces the directory of a workflow',
    script: 'mv .github g; mkdir -p .github/workflows; echo evil > .github/workflows/ci.yml',
    won: `${project}/.github/workflows/ci.yml`,
  },
  { name: 'changes a registry', script: 'echo evil > .npmrc', won: `${project}/.npmrc` },
  {
    name: 'changes a start file of a directory',
    script: 'echo evil >> sub/deep/.envrc',
    won: `${project}/sub/deep/.envrc`,
  },
  {
    name: 'moves the directory above',
    script: 'mv sub old; mkdir -p sub/deep; echo evil > sub/deep/.envrc',
    won: `${project}/sub/deep/.envrc`,
  },
  {
    name: 'plants settings of an editor',
    script: 'mkdir .vscode; echo evil > .vscode/tasks.json',
    won: `${project}/.vscode`,
  },
  { name: 'plants hooks', script: 'mkdir .husky; echo evil > .husky/pre-commit', won: `${project}/.husky` },
  {
    name: 'plants hooks in capital letters',
    script: 'mkdir .HUSKY; echo evil > .HUSKY/pre-commit',
    won: `${project}/.HUSKY`,
  },
  { name: 'plants a server', script: 'echo evil > .mcp.json', won: `${project}/.mcp.json` },
  {
    name: 'plants settings of an agent',
    script: 'mkdir .claude; echo evil > .claude/settings.json',
    won: `${project}/.claude`,
  },
  {
    name: 'plants instructions below',
    script: 'mkdir -p a/b/c; echo evil > a/b/c/AGENTS.md',
    won: `${project}/a/b/c/AGENTS.md`,
  },
  {
    name: 'plants a link as instructions',
    script: 'ln -s ../README.md sub/AGENTS.md',
    won: `${project}/sub/AGENTS.md`,
  },
];

const withGit = { git: true } as const;
const rights: readonly Attempt[] = [
  {
    name: 'plants a hook while git can write',
    script: 'echo evil > .git/hooks/pre-commit',
    won: `${git}/hooks/pre-commit`,
    sandbox: withGit,
  },
  {
    name: 'changes the configuration while git can write',
    script: 'git config core.fsmonitor evil',
    won: `${git}/config`,
    sandbox: withGit,
  },
  {
    name: 'replaces the hooks while git can write',
    script: 'mv .git/hooks .git/h; mkdir .git/hooks; echo evil > .git/hooks/pre-commit',
    won: `${git}/hooks/pre-commit`,
    sandbox: withGit,
  },
  {
    name: 'plants a common directory while git can write',
    script: 'mkdir c; echo ../c > .git/commondir',
    won: `${git}/commondir`,
    sandbox: withGit,
  },
  {
    name: 'plants a worktree configuration while git can write',
    script: 'echo evil > .git/config.worktree',
    won: `${git}/config.worktree`,
    sandbox: withGit,
  },
  {
    name: 'renames .git while git can write',
    script: 'mv .git old; mkdir .git',
    won: `${git}/config`,
    sandbox: withGit,
  },
  {
    name: 'connects to loopback while the network is off',
    script: connect('+process.env.PORT'),
    sandbox: { network: false },
  },
  {
    name: 'reads keys while the network is on',
    script: 'cat "$HOME/.ssh/id_ed25519"',
    sandbox: { network: true },
  },
  {
    name: 'writes in a strict workspace',
    script: 'echo evil > README.md',
    won: `${project}/README.md`,
    sandbox: { mode: 'strict' },
  },
  {
    name: 'creates a file in a strict workspace',
    script: 'echo evil > new',
    won: `${project}/new`,
    sandbox: { mode: 'strict' },
  },
  {
    name: 'deletes from a strict workspace',
    script: 'rm -rf docs',
    won: `${project}/docs`,
    sandbox: { mode: 'strict' },
  },
  {
    name: 'reads keys inside the workspace',
    script: 'cat "$HOME/.aws/credentials"',
    sandbox: { workspace: 'HOME' },
  },
  {
    name: 'writes keys inside the workspace',
    script: 'echo evil > "$HOME/.ssh/config"',
    won: 'home/.ssh/config',
    sandbox: { workspace: 'HOME' },
  },
];

export const attempts: readonly Attempt[] = [
  ...reads,
  ...connections,
  ...processes,
  ...writes,
  ...guarded,
  ...rights,
];
