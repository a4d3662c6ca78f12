import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment, Io } from '../terminal/io.ts';
import type { DemoModel } from './model.ts';
import { demoModel } from './model.ts';
import { newDemoProject, pathWithNode } from './project.ts';

/** A place where a command works as ever, with a scripted model instead of a service, and keeps nothing. */
export interface DemoStage {
  /** The small project. */
  readonly folder: string;
  /** The environment that leads to the scripted model and to a home of its own. */
  readonly env: Environment;
  readonly model: DemoModel;
  /** Removes the project and the home too. */
  close(): Promise<void>;
}

/** Sets the scene of `cobbler demo` for another command. */
export async function demoStage(io: Io): Promise<DemoStage> {
  const folder = newDemoProject();
  const home = mkdtempSync(join(tmpdir(), 'cobbler-demo-home-'));
  const remove = () => {
    for (const path of [folder, home]) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  };
  // After a second stop signal, `close` is not reached.
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
