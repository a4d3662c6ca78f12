import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import { oneOf, withMethods } from '@cobbler/agent/input';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { createSandbox } from '@cobbler/agent/sandbox';
import type { CliAdapter } from './cli-adapter.ts';
import { realProgram } from './program.ts';

/**
 * The restrictions of a program. `workspace`: it can write only in its working directory and in its own directory.
 * `strict`: it cannot write in its working directory. `external`: this machine is already a sandbox, such as a
 * container. `off`: it has all rights of this user.
 */
export type ProgramSandbox = 'workspace' | 'strict' | 'external' | 'off' | Sandbox;

const modes = oneOf('workspace', 'strict', 'external', 'off');
const instance = withMethods<Sandbox>('enter');

/** Reads the sandbox of a program. */
export const readProgramSandbox: Reader<ProgramSandbox> = (value) =>
  typeof value === 'object' ? instance(value) : modes(value);

/** The sandboxes of one program, one for each working directory. */
export class ProgramSandboxes {
  readonly #adapter: Pick<CliAdapter, 'directory' | 'permission'>;
  readonly #given: ProgramSandbox | undefined;
  readonly #env: Environment;
  readonly #known: Map<string, Sandbox | undefined> = new Map();

  /** @param given the sandbox; undefined for one if one works here. */
  constructor(
    adapter: Pick<CliAdapter, 'directory' | 'permission'>,
    given: ProgramSandbox | undefined,
    env: Environment,
  ) {
    this.#adapter = adapter;
    this.#given = given;
    this.#env = env;
  }

  /**
   * Returns the sandbox for a working directory; undefined for none.
   * @throws AgentError `invalid` with the code `no_sandbox` if one is required and none works here.
   */
  in(workspace: string, program: string): Sandbox | undefined {
    const given = this.#given;
    if (typeof given === 'object') return given;
    if (given === 'off' || given === 'external') return undefined;
    if (!this.#known.has(workspace)) this.#known.set(workspace, this.#create(workspace, program, given));
    return this.#known.get(workspace);
  }

  #create(
    workspace: string,
    program: string,
    given: 'workspace' | 'strict' | undefined,
  ): Sandbox | undefined {
    const { directory, permission } = this.#adapter;
    const { HOME: home = homedir() } = this.#env;
    const named = this.#env[directory.variable];
    const own = named || join(home, directory.name);
    const settings = directory.settings === undefined ? [] : [directory.settings];
    const mode = given ?? (permission === 'read-only' ? 'strict' : 'workspace');
    try {
      const sandbox = createSandbox({
        ...{ workspace, mode, env: this.#env, network: true, git: true, nested: true },
        read: [filesOf(program), ...settings.map((name) => join(home, name))],
        write: [own],
        locked: [...directory.locked, ...settings].map((name) => join(own, name)),
      });
      // Otherwise its conversations would end with this process, and the program would create what it may only read.
      for (const name of ['.', ...directory.created])
        mkdirSync(join(own, name), { recursive: true, mode: 0o700 });
      for (const name of named ? settings : []) writeNew(join(own, name), '{}');
      return sandbox;
    } catch (error) {
      if (given === undefined && AgentError.is(error) && error.code === 'no_sandbox') return undefined;
      throw error;
    }
  }
}

function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Returns the path under which a program can be started in a sandbox. Links in other directories than those of the PATH
 * do not exist there.
 */
export function pathInSandbox(program: string, { PATH = '' }: Environment): string {
  return PATH.split(delimiter).includes(dirname(program)) ? program : realProgram(program);
}

/** Returns what a program consists of: the packages installed with it, or one file. */
function filesOf(program: string): string {
  const real = realProgram(program);
  return /^.*?\/node_modules(?=\/)/.exec(real)?.[0] ?? real;
}
