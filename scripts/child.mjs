// Child processes of the bootstrap. Plain JavaScript that runs on Node 18, because it runs before anything is set up.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** An error that is shown to the user without a stack trace. */
export class Refusal extends Error {}

/** On Windows, npm and pnpm are `.cmd` files, which only a shell can start. */
const shell = process.platform === 'win32';

/**
 * Runs a command and collects its output. Never rejects if the command fails.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ code: number, output: string }>}
 */
export function capture(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, shell, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', (error) => reject(new Refusal(`Cannot start ${command}: ${error.message}`)));
    child.on('close', (code, signal) => resolve({ code: exitCode(code, signal), output }));
  });
}

/**
 * Runs a command in the terminal and resolves with its exit code. Ctrl-C reaches the command directly from the
 * terminal; this process only stays alive to pass on its exit code.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<number>}
 */
export function handOver(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: 'inherit' });
    const stay = () => {};
    /** @param {NodeJS.Signals} signal */
    const forward = (signal) => child.kill(signal);
    process.on('SIGINT', stay).on('SIGTERM', forward).on('SIGHUP', forward);
    const release = () => process.off('SIGINT', stay).off('SIGTERM', forward).off('SIGHUP', forward);
    child.on('error', (error) => {
      release();
      reject(new Refusal(`Cannot start ${command}: ${error.message}`));
    });
    child.on('exit', (code, signal) => {
      release();
      resolve(exitCode(code, signal));
    });
  });
}

/**
 * Returns the exit code by the shell's convention: 128 + the signal's number for a command that a signal ended.
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
function exitCode(code, signal) {
  return signal ? 128 + constants.signals[signal] : (code ?? 1);
}

/**
 * Prints the label of the running work to stderr and, on a terminal, the elapsed time.
 * @template T
 * @param {string} label
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function tell(label, work) {
  const started = Date.now();
  const elapsed = () => `${((Date.now() - started) / 1000).toFixed(1)} s`;
  if (!process.stderr.isTTY) {
    process.stderr.write(`cobbler: ${label}\n`);
    return work();
  }
  const draw = () => process.stderr.write(`\rcobbler: ${label} ${elapsed()}`);
  draw();
  const timer = setInterval(draw, 200);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    draw();
    process.stderr.write('\n');
  }
}
