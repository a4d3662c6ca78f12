import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cobbler } from '../support/in-process.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { serving, until } from '../support/serving.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };

describe('cobbler serve', () => {
  test('keeps a pending approval across kill -9, and cobbler approve allows it', patience, async () => {
    const service = await mockService([
      says('I will write it.', ['write_file', { path: 'note.txt', content: 'hello' }]),
      says('Written.'),
    ]);
    const [cwd, home] = [temporaryFolder(), temporaryFolder()];
    const env = { ...claudeAt(service), COBBLER_HOME: home };
    const first = await serving(env, cwd);
    await first.ask('POST', '/v1/sessions', { id: 'work' });
    await first.ask('POST', '/v1/sessions/work/prompt', { content: 'Write a note.' });
    await until(first, 'work', 'waiting');
    first.child.kill('SIGKILL');
    await first.end;
    const second = await serving(env, cwd);
    expect(second.token).toBe(first.token);
    const { items } = (await second.ask('GET', '/v1/approvals')).json as { items: { approvalId: string }[] };
    const id = items[0]?.approvalId ?? '';
    const listed = await cobbler(['approve'], { env });
    expect(listed.stdout).toContain('note.txt');
    const approved = await cobbler(['approve', id.slice(0, 8)], { env });
    expect(approved).toMatchObject({ code: 0, stdout: 'allowed: write_file in session work\n' });
    await until(second, 'work', 'complete');
    expect(readFileSync(join(cwd, 'note.txt'), 'utf8')).toBe('hello');
    const again = await cobbler(['deny', id], { env });
    expect(again.code).toBe(2);
    second.child.kill('SIGTERM');
    expect(await second.end).toMatchObject({ code: 0 });
    expect(existsSync(join(home, 'server.json'))).toBe(false);
    for (const name of ['sessions.db', 'server-tokens.json']) {
      expect([name, statSync(join(home, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    expect((await cobbler(['approve'], { env })).stderr).toContain('No server is running');
  });

  test('continues an interrupted run at the next start', patience, async () => {
    const command_ = 'sleep 60';
    const service = await mockService([
      says('', ['run_command', { command: command_ }]),
      says('I do not know how that ended.'),
    ]);
    const [cwd, home] = [temporaryFolder(), temporaryFolder()];
    const env = { ...claudeAt(service), COBBLER_HOME: home };
    const first = await serving(env, cwd, '--yes');
    await first.ask('POST', '/v1/sessions', { id: 'work' });
    await first.ask('POST', '/v1/sessions/work/prompt', { content: 'Sleep.' });
    await expect
      .poll(async () => (await first.ask('GET', '/v1/sessions/work')).json['toolCalls'], { timeout: 60_000 })
      .toBe(1);
    first.child.kill('SIGKILL');
    await first.end;
    const second = await serving(env, cwd, '--yes');
    await until(second, 'work', 'complete');
    const { messages } = (await second.ask('GET', '/v1/sessions/work/messages')).json;
    expect(JSON.stringify(messages)).toContain('outcome is unknown');
  });
});
