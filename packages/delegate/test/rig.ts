import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentSession } from '@cobbler/delegate';
import { onTestFinished } from 'vitest';
import type { FakePrograms } from './fake-programs.ts';
import { placePrograms } from './fake-programs.ts';

/** Returns fake programs that are removed at the end of the test. */
export function fakePrograms(): FakePrograms {
  const programs = placePrograms();
  onTestFinished(() => programs.dispose());
  return programs;
}

/** Returns a session in a new directory. */
export function session(rest: Partial<AgentSession> = {}): AgentSession {
  const folder = mkdtempSync(join(tmpdir(), 'session-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { sessionId: 's', workingDirectory: folder, ...rest };
}
