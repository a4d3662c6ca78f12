import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { atTerminal, hasScript } from '../support/at-terminal.ts';
import { serving, until } from '../support/serving.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };

describe('the project and home of --demo are removed [P23]', () => {
  /** Starts a server on the demo project, and returns what is in its temporary directory. */
  async function serveDemo() {
    const temporary = temporaryFolder();
    const server = await serving({ TMPDIR: temporary }, temporaryFolder(), '--demo');
    await server.ask('POST', '/v1/sessions', { id: 'demo' });
    await server.ask('POST', '/v1/sessions/demo/prompt', { content: 'fix the failing test' });
    return { server, left: () => readdirSync(temporary) };
  }

  test('after serve', patience, async () => {
    const { server, left } = await serveDemo();
    await until(server, 'demo', 'waiting');
    expect(left()).toHaveLength(2);
    server.child.kill('SIGINT');
    expect(await server.end).toMatchObject({ code: 0 });
    expect(left()).toEqual([]);
  });

  test('after serve, with two signals during a run', patience, async () => {
    const { server, left } = await serveDemo();
    // The signals differ, because the system merges equal pending signals.
    server.child.kill('SIGINT');
    server.child.kill('SIGTERM');
    expect(await server.end).toMatchObject({ code: 130 });
    expect(left()).toEqual([]);
  });

  const leaving = [
    ['Ctrl-D', '\x04', 0],
    ['Ctrl-C twice', '\x03\x03', 0],
  ] as const;
  test.skipIf(!hasScript).each(leaving)(
    'after chat exits on %s (needs script from util-linux)',
    patience,
    async (_, keys, code) => {
      const temporary = temporaryFolder();
      const end = await atTerminal(['chat', '--demo'], {
        env: { TMPDIR: temporary, COBBLER_HOME: temporaryFolder() },
        cwd: temporaryFolder(),
        typing: [['describe a task', keys]],
      });
      expect(end.stdout).toContain('a scripted model');
      expect(end.code, end.stdout).toBe(code);
      expect(readdirSync(temporary)).toEqual([]);
    },
  );
});
