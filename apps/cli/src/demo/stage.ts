import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment, Io } from '../terminal/io.ts';
import type { DemoModel } from './model.ts';
import { demoModel } from './model.ts';
import { newDemoProject, pathWithNode } from './project.ts';

/** An environment in which a command works as usual, but with a scripted model. Nothing in it is kept. */
export interface DemoEnvironment {
  /** The directory of the demo project. */
  readonly folder: string;
  /** The environment variables that select the scripted model and a separate home directory. */
  readonly env: Environment;
  readonly model: DemoModel;
  /** Ends the demo and removes the project and the home directory. */
  close(): Promise<void>;
}

/** Sets up the environment of `cobbler demo` for another command. */
export async function demoEnvironment(io: Io): Promise<DemoEnvironment> {
  const folder = newDemoProject();
  const home = mkdtempSync(join(tmpdir(), 'cobbler-demo-home-'));
  const remove = () => {
    for (const path of [folder, home]) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  };
  // A second stop signal skips `close`.
  process.once('exit', remove);
  const model = await demoModel(io.clock);
  return {
    folder,
    env: {
      ...io.env,
      PATH: pathWithNode(io.env),
      COBBLER_HOME: home,
      COBBLER_MODEL: `claude:${model.agent.model}`,
      ANTHROPIC_API_KEY: 'no-key-needed',
      ANTHROPIC_BASE_URL: model.url,
    },
    model,
    async close() {
      await model.close();
      process.off('exit', remove);
      remove();
    },
  };
}
