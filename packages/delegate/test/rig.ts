import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentSession } from '@cobbler/delegate';
import { onTestFinished } from 'vitest';
import type { FakePrograms } from './fake-programs.ts';
import { placePrograms } from './fake-programs.ts';

/** Programs that are there until the test is over. */
export function fakePrograms(): FakePrograms {
  const programs = placePrograms();
  onTestFinished(() => programs.dispose());
  return programs;
}

/** A session in a folder of its own. */
export function session(rest: Partial<AgentSession> = {}): AgentSession {
  const folder = mkdtempSync(join(tmpdir(), 'session-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { sessionId: 's', workingDirectory: folder, ...rest };
}
