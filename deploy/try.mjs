// `node deploy/try.mjs [--keep]`: runs the steps of deploy/Containerfile without a container engine, on Linux as root.
// The build stage runs in a fresh copy, as an unprivileged user, in an empty environment. The final stage is a directory
// with the files that the Containerfile copies, a read-only /usr of the system, and this Node. The script starts the
// command there as the Containerfile's user, with that directory as root, sends requests, stops it and checks the result.
// The image's own system, layers and networks need a real engine. Takes minutes, and the network if packages are not cached.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyOf, lastOf, stagesOf } from './containerfile.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** User id of the build; it owns nothing else. */
const builder = 12_345;
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** @param {string} text */
const say = (text) => process.stdout.write(`${text}\n`);

/** Returns this machine's network settings; an engine passes similar ones to a build. */
function networkSettings() {
  const names = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/**
 * @param {import('./containerfile.mjs').Stage} stage
 * @param {string} folder
 */
function build(stage, folder) {
  const [workdir, home] = [join(folder, 'src'), join(folder, 'home')];
  mkdirSync(home);
  // As an engine does: the files of this checkout, without ignored ones.
  const files = execFileSync('git', ['ls-files', '-zco', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of files.split('\0').filter((name) => name !== '' && existsSync(join(root, name))))
    cpSync(join(root, file), join(workdir, file), { recursive: true });
  execFileSync('chown', ['-R', `${builder}:${builder}`, folder]);
  const env = { ...networkSettings(), PATH: `${dirname(process.execPath)}:${systemPath}`, HOME: home };
  for (const { word, rest } of stage.instructions) {
    if (word !== 'RUN') continue;
    say(`build: ${rest}`);
    const began = Date.now();
    const rights = ['--reuid', `${builder}`, '--regid', `${builder}`, '--clear-groups', '--no-new-privs'];
    const { status } = spawnSync('setpriv', [...rights, 'sh', '-c', rest], {
      cwd: workdir,
      env,
      stdio: 'inherit',
    });
    if (status !== 0) throw new Error(`ended with ${status}`);
    say(`build: done in ${Math.round((Date.now() - began) / 1000)} s`);
  }
  return workdir;
}

/**
 * Creates the final stage in a directory.
 * @param {import('./containerfile.mjs').Stage} stage
 * @param {string} built directory of the build stage
 * @param {string} image
 */
function layOut(stage, built, image) {
  for (const name of ['usr', 'usr/local/bin', 'proc', 'dev', 'etc', 'tmp', 'var/lib', 'run'])
    mkdirSync(join(image, name), { recursive: true });
  execFileSync('chmod', ['1777', join(image, 'tmp')]);
  for (const name of ['bin', 'sbin', 'lib', 'lib64'])
    if (existsSync(`/${name}`)) symlinkSync(`usr/${name}`, join(image, name));
  mkdirSync(join(image, 'local/bin'), { recursive: true });
  cpSync(process.execPath, join(image, 'local/bin/node'), { dereference: true });
  writeFileSync(
    join(image, 'etc/passwd'),
    'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n',
  );
  for (const instruction of stage.instructions) {
    const { word, rest } = instruction;
    if (word === 'COPY') {
      const { from, source, target } = copyOf(instruction);
      if (from === undefined) throw new Error('The final stage must copy from the build stage only.');
      say(`image: COPY ${source}`);
      cpSync(join(built, source.replace(/^\/src\//, '')), join(image, target), { recursive: true });
    } else if (word === 'RUN') {
      say(`image: ${rest}`);
      const { status } = inside(image, { uid: 0, env: {}, workdir: '/', stdio: 'inherit' }, [
        'sh',
        '-c',
        rest,
      ]);
      if (status !== 0) throw new Error(`ended with ${status}`);
    }
  }
}

/**
 * Returns the command line that runs a program with a directory as its root.
 * @param {string} image
 * @param {number} uid
 * @param {string} workdir
 * @param {readonly string[]} command
 */
function chrooted(image, uid, workdir, command) {
  const mounts = [
    'mount --rbind /usr "$0/usr"',
    'mount --bind "$0/local" "$0/usr/local"',
    'mount -t proc proc "$0/proc"',
    'mount --rbind /dev "$0/dev"',
  ].join(' && ');
  const enter = `exec chroot --userspec=${uid}:${uid} "$0" /usr/bin/env -C ${workdir} "$@"`;
  return [
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    'sh',
    '-c',
    `${mounts} && ${enter}`,
    image,
    ...command,
  ];
}

/**
 * @param {string} image
 * @param {{ uid: number; env: Record<string, string>; workdir: string; stdio: 'inherit' | 'pipe' }} how
 * @param {readonly string[]} command
 */
function inside(image, { uid, env, workdir, stdio }, command) {
  const all = { ...env, PATH: systemPath };
  return spawnSync('unshare', chrooted(image, uid, workdir, command), { env: all, stdio, encoding: 'utf8' });
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/**
 * Starts the Containerfile's command, checks its health, sends requests, and stops it.
 * @param {import('./containerfile.mjs').Stage} stage
 * @param {string} image
 */
async function run(stage, image) {
  const port = await freePort();
  const uid = Number(lastOf(stage, 'USER')?.split(':')[0]);
  const workdir = lastOf(stage, 'WORKDIR') ?? '/';
  const env = Object.fromEntries(
    stage.instructions.filter(({ word }) => word === 'ENV').map(({ rest }) => rest.split('=')),
  );
  const secrets = join(image, 'run/secrets');
  mkdirSync(secrets);
  writeFileSync(join(secrets, 'ANTHROPIC_API_KEY'), 'sk-ant-tried-without-an-engine\n');
  execFileSync('chown', ['-R', `${uid}`, secrets]);
  const command = [
    ...JSON.parse(lastOf(stage, 'ENTRYPOINT') ?? ''),
    ...JSON.parse(lastOf(stage, 'CMD') ?? ''),
  ];
  say(`run: ${command.join(' ')} --port ${port}, as user ${uid}`);
  const child = spawn('unshare', chrooted(image, uid, workdir, [...command, '--port', `${port}`]), {
    env: { ...env, HOME: '/home/node', PATH: systemPath },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text;
    });
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  const health = (lastOf(stage, 'HEALTHCHECK') ?? '').replace(/^.*? CMD /, '').replaceAll('4370', `${port}`);
  const healthy = () =>
    inside(image, { uid, env, workdir, stdio: 'pipe' }, ['sh', '-c', health]).status === 0;
  try {
    const deadline = Date.now() + 20_000;
    while (!healthy()) {
      if (Date.now() > deadline || child.exitCode !== null)
        throw new Error(`The server is not healthy:\n${output}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const address = readFileSync(join(image, env['COBBLER_ADDRESS_FILE'] ?? ''), 'utf8').trim();
    const token = address.split('#token=')[1] ?? '';
    const asked = await fetch(`http://127.0.0.1:${port}/readyz`);
    const listed = await fetch(`http://127.0.0.1:${port}/v1/sessions`, {
      headers: { authorization: `Bearer ${token}` },
    });
    check('the health check passes', true);
    check('the server is ready', asked.ok);
    check('the address file contains the token', listed.ok);
    check('the log does not contain the token', !output.includes(token));
    const home = join(image, env['COBBLER_HOME'] ?? '');
    const own = ['.', 'sessions.db', 'server-tokens.json'].map((name) => statSync(join(home, name)));
    check(
      'only the user can read the state',
      own.every((file) => file.uid === uid && (file.mode & 0o077) === 0),
    );
    // An engine sends the signal to process 1.
    execFileSync('pkill', ['-TERM', '--parent', `${child.pid}`]);
    const code = await ended;
    check(`SIGTERM ends it with 0 (${code})`, code === 0);
    check('the health check fails after the stop', !healthy());
  } finally {
    child.kill('SIGKILL');
  }
}

/**
 * @param {string} what
 * @param {boolean} isSo
 */
function check(what, isSo) {
  say(`${isSo ? 'ok' : 'NOT OK'}: ${what}`);
  if (!isSo) process.exitCode = 1;
}

async function main() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    say('skipped: this needs Linux and root, to switch users and to change the root directory.');
    return;
  }
  const [first, last] = stagesOf(readFileSync(join(root, 'deploy/Containerfile'), 'utf8'));
  if (first === undefined || last === undefined)
    throw new Error('deploy/Containerfile must have two stages.');
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-deploy-'));
  execFileSync('chmod', ['755', folder]);
  try {
    const buildFolder = join(folder, 'build');
    const image = join(folder, 'image');
    mkdirSync(buildFolder);
    mkdirSync(image);
    layOut(last, build(first, buildFolder), image);
    const size = execFileSync('du', ['-sk', join(image, 'opt')], { encoding: 'utf8' }).split('\t')[0];
    say(`image: ${Math.round(Number(size) / 102.4) / 10} MiB on top of ${last.from}`);
    await run(last, image);
    say('not tested without an engine: base images, layers, ports, volumes and limits of a container');
  } finally {
    if (process.argv.includes('--keep')) say(`kept: ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

await main();
