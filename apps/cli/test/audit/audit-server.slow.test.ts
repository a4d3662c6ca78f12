import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cobbler } from '../support/in-process.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { serving, until } from '../support/serving.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a server records its tokens, and which token decided', { timeout: 120_000 }, async () => {
  const service = await mockService([says('', ['run_command', { command: 'echo hi' }]), says('Done.')]);
  const home = temporaryFolder();
  const env = { ...claudeAt(service), COBBLER_HOME: home, COBBLER_SANDBOX: 'off' };
  const cwd = temporaryFolder();
  const server = await serving(env, cwd);
  const { json: token } = await server.ask('POST', '/v1/tokens', { name: 'phone', scopes: ['admin'] });
  await server.ask('POST', '/v1/sessions', { id: 'work' });
  await server.ask('POST', '/v1/sessions/work/prompt', { content: 'go' });
  await until(server, 'work', 'waiting');
  const { json } = await server.ask('GET', '/v1/approvals');
  const [{ approvalId, hash }] = json['items'] as [{ approvalId: string; hash: string }];
  const answered = await fetch(`${server.url}/v1/sessions/work/approvals/${approvalId}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${String(token['token'])}`, 'content-type': 'application/json' },
    body: JSON.stringify({ decision: 'allow', hash }),
  });
  expect(answered.status).toBe(202);
  await until(server, 'work', 'complete');
  await server.ask('PATCH', '/v1/sessions/work', { share: { with: 'bob', may: 'read' } });
  await server.ask('PATCH', '/v1/sessions/work', { share: { with: 'bob', may: 'none' } });
  await server.ask('DELETE', `/v1/tokens/${String(token['id'])}`).catch(() => undefined);
  server.child.kill('SIGINT');
  expect(await server.end).toMatchObject({ code: 0 });
  const text = readFileSync(join(home, 'audit', 'audit.jsonl'), 'utf8');
  expect(text).not.toContain(String(token['token']));
  const records = text
    .trimEnd()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line));
  expect(records.map(({ kind }) => kind)).toEqual([
    ...[
      'start',
      'sandbox',
      'token',
      'token',
      'approval',
      'decision',
      'call',
      'call',
      'share',
      'share',
      'token',
      'stop',
      'head',
    ],
  ]);
  expect(records[2]).toMatchObject({ change: 'created', name: 'owner', surface: 'serve' });
  expect(records[3]).toMatchObject({ change: 'created', name: 'phone', scopes: ['admin'] });
  expect(records[5]).toMatchObject({ approvalId, decision: 'allow', by: 'phone' });
  const sharing = { session: 'work', name: 'bob', by: 'owner' };
  expect(records[8]).toMatchObject({ ...sharing, change: 'added', may: 'read' });
  expect(records[9]).toMatchObject({ ...sharing, change: 'removed' });
  expect(records[10]).toMatchObject({ change: 'removed', token: token['id'] });
  expect((await cobbler(['audit', 'verify'], { env, cwd })).code).toBe(0);
});
