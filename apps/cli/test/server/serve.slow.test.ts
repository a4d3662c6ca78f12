import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cobbler } from '../support/in-process.ts';
import { claudeAt, mockService } from '../support/mock-service.ts';
import { serving, until } from '../support/serving.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };

describe('cobbler serve', () => {
  test('names the process that uses its port [P25]', patience, async () => {
    const env = { ...claudeAt(await mockService([])), COBBLER_HOME: temporaryFolder() };
    const first = await serving(env, temporaryFolder());
    const { port } = new URL(first.url);
    const second = await cobbler(['serve', '--port', port], { env, cwd: temporaryFolder() });
    expect(second.code).toBe(2);
    expect(second.stderr).toContain(
      `Cannot listen on port ${port}: it is in use by process ${first.child.pid}, a cobbler server.`,
    );
  });

  test(
    'with --demo, needs no key, stores nothing and runs the scripted model [S4.17]',
    patience,
    async () => {
      const home = temporaryFolder();
      const server = await serving({ COBBLER_HOME: home }, temporaryFolder(), '--demo');
      await server.ask('POST', '/v1/sessions', { id: 'demo' });
      await server.ask('POST', '/v1/sessions/demo/prompt', { content: 'fix the failing test' });
      await until(server, 'demo', 'waiting');
      server.child.kill('SIGINT');
      expect(await server.end).toMatchObject({ code: 0 });
      expect(readdirSync(home)).toEqual([]);
    },
  );

  test('exits with 2 without a key or with an invalid option', patience, async () => {
    const env = { COBBLER_HOME: temporaryFolder() };
    expect((await cobbler(['serve'], { env })).code).toBe(2);
    expect((await cobbler(['serve', '--port', '99999'], { env })).stderr).toContain('--port cannot be');
    expect((await cobbler(['serve', '--allowed-host', 'a b'], { env })).stderr).toContain(
      'is not a host name',
    );
  });
});
