import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Attempt } from './attempts.ts';
import { attempts } from './attempts.ts';
import type { World } from './world.ts';
import { createWorld, processesWith, status } from './world.ts';

/** Performs an attempt and returns whether it succeeded. */
async function succeeds({ script, won, sandbox }: Attempt, inside: boolean): Promise<boolean> {
  const world = await createWorld();
  onTestFinished(() => world.close());
  const isFile = typeof won === 'string' && won !== 'survivor';
  const before = isFile ? contentIn(world, won) : undefined;
  const options = { ...sandbox, ...(sandbox?.workspace === 'HOME' && { workspace: world.home }) };
  const { stdout } = await (inside ? world.run(script, options) : world.runFree(script));
  const text = stdout.text();
  if (won === undefined) return text.includes(world.token);
  if (won instanceof RegExp) return won.test(text);
  if (isFile) return contentIn(world, won) !== before;
  const left = processesWith(world.id);
  for (const pid of left) process.kill(pid, 'SIGKILL');
  return left.length > 0;
}

function contentIn(world: World, path: string): string | undefined {
  if (!isAbsolute(path)) return world.content(path);
  try {
    return readFileSync(path.replace('ID', world.id), 'utf8');
  } catch {
    return undefined;
  }
}

describe.skipIf(!status.works)('a command in the sandbox (needs bubblewrap)', () => {
  it('is tested with at least 60 attempts to leave it', () => {
    expect(new Set(attempts.map(({ name }) => name)).size).toBe(attempts.length);
    expect(attempts.length).toBeGreaterThanOrEqual(60);
  });

  it.for(attempts)('fails where it succeeds outside: $name [P19, P21]', async (attempt) => {
    expect(await succeeds(attempt, false)).toBe(true);
    expect(await succeeds(attempt, true)).toBe(false);
  });
});
