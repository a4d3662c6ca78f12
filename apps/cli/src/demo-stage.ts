import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { newDemoProject } from './demo-project.ts';
import type { Environment, Io } from './io.ts';

/** A place where a command works as ever, with a scripted model instead of a service, and keeps nothing. */
export interface DemoStage {
  /** The small project. */
  readonly folder: string;
  /** The environment that leads to the scripted model and to a home of its own. */
  readonly env: Environment;
  close(): Promise<void>;
}

/** Sets the scene of `cobbler demo` for another command. */
export async function demoStage(io: Io): Promise<DemoStage> {
  const { serveScriptedModel } = await import('./demo-server.ts');
  const { scriptedModel } = await import('./demo-script.ts');
  const folder = newDemoProject();
  const server = await serveScriptedModel(io.clock);
  const home = mkdtempSync(join(tmpdir(), 'cobbler-demo-home-'));
  return {
    folder,
    env: {
      ...io.env,
      // The project's tests want a node.
      PATH: [io.env['PATH'], dirname(process.execPath)].filter(Boolean).join(delimiter),
      COBBLER_HOME: home,
      COBBLER_MODEL: `claude:${scriptedModel}`,
      ANTHROPIC_API_KEY: 'no-key-needed',
      ANTHROPIC_BASE_URL: server.url,
    },
    async close() {
      await server.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
