// The entry point of all npm scripts (`npm start`, `npm test` and others). It requires only Node and npm.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkSources } from './checks.mjs';
import { handOver, Refusal } from './child.mjs';
import { cleanEnvironment, setUp, userPath } from './setup.mjs';
import { runTask, sourceFlags, taskNames } from './tasks.mjs';
import { testQuick } from './test-run.mjs';
import { verify } from './verify.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * The commands of `node scripts/cobbler.mjs <command>`; each receives the arguments after it.
 * @type {Record<string, (tools: import('./setup.mjs').Tools, args: string[]) => Promise<number>>}
 */
const commands = {
  start: (tools, args) => startCli(tools, args),
  test: (tools, args) => testQuick(root, tools, args),
  verify: (tools, args) => verify(root, tools, args),
  check: async (tools) => ((await checkSources(root, tools)).length > 0 ? 1 : 0),
  format: (tools, args) =>
    handOver('biome', ['check', '--write', ...(args.length > 0 ? args : ['.'])], {
      cwd: root,
      env: tools.env,
    }),
  try: (tools, args) => tryFile(tools, args),
  generate: (tools, args) => generate(tools, args),
  bench: (tools, args) => bench(tools, args),
  exec: (tools, [program = 'node', ...args]) => handOver(program, args, { cwd: root, env: tools.env }),
  ...Object.fromEntries(
    taskNames('root').map((name) => [name, (tools, args) => runTask(root, tools, 'root', [name, ...args])]),
  ),
};

/**
 * Writes generated files: one of them by its name, or all that need no build.
 * @param {import('./setup.mjs').Tools} tools
 * @param {string[]} words
 */
async function generate(tools, words) {
  if (words.length > 0) return runTask(root, tools, 'generate', words);
  let worst = 0;
  for (const name of taskNames('generate').filter((one) => one !== 'sizes'))
    worst = Math.max(worst, await runTask(root, tools, 'generate', [name]));
  return worst;
}

/**
 * Runs a benchmark by its name. With a flag or no argument, compares Cobbler with other libraries.
 * @param {import('./setup.mjs').Tools} tools
 * @param {string[]} words
 */
function bench(tools, words) {
  const isNamed = words[0] !== undefined && !words[0].startsWith('-');
  return runTask(root, tools, 'bench', isNamed ? words : ['peers', ...words]);
}

/**
 * Runs the CLI; without arguments, the demo.
 * @param {import('./setup.mjs').Tools} tools
 * @param {string[]} args
 */
function startCli(tools, args) {
  const main = join(root, 'apps', 'cli', 'src', 'main.ts');
  // Messages of the CLI then show commands that the user can run from the clone.
  const env = { COBBLER_COMMAND: 'npm start --' };
  return runSource(tools, [main, ...(args.length > 0 ? args : ['demo'])], env);
}

/**
 * Runs a TypeScript file against the sources, in the user's directory and with the user's own PATH:
 * the commands of an agent must find the same programs as the user's shell.
 * @param {import('./setup.mjs').Tools} tools
 * @param {string[]} args
 * @param {Record<string, string>} [extra] additional variables
 */
function runSource(tools, args, extra) {
  const cwd = process.env.INIT_CWD ?? process.cwd();
  const env = { ...cleanEnvironment(process.env), ...extra, PATH: userPath(process.env.PATH ?? '') };
  return handOver(tools.node, [...sourceFlags, ...args], { cwd, env });
}

/**
 * Runs a user's program, whose file must be inside the project.
 * @param {import('./setup.mjs').Tools} tools
 * @param {string[]} args
 */
function tryFile(tools, args) {
  const file = args.find((arg) => !arg.startsWith('-'));
  if (file === undefined)
    throw new Refusal('The file is missing. For example: npm run try examples/hello.ts');
  const path = resolve(process.env.INIT_CWD ?? process.cwd(), file);
  if (!existsSync(path)) throw new Refusal(`There is no file ${file}.`);
  if (relative(root, realpathSync(path)).startsWith('..'))
    throw new Refusal(
      `${file} is outside the project, where the packages cannot be found. Move it next to README.md.`,
    );
  return runSource(tools, args);
}

/**
 * Ends this process together with npm. npm sends a signal only to the shell between itself and this process, which
 * would otherwise keep running.
 */
function endWithParent() {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  timer.unref();
}

async function main() {
  endWithParent();
  const [word = '', ...args] = process.argv.slice(2);
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (!command) throw new Refusal(`Use one of: ${Object.keys(commands).join(', ')}.`);
  // pnpm must work without the packages: it updates a lockfile that cannot be installed.
  const install = !(word === 'exec' && args[0] === 'pnpm');
  return command(await setUp(root, { install }), args);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    process.stderr.write(`cobbler: ${error instanceof Refusal ? error.message : (error?.stack ?? error)}\n`);
    process.exitCode = 1;
  },
);
