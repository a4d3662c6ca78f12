import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { sqliteStore } from '@cobbler/agent/node';
import type { MockReply } from '@cobbler/agent/testing';
import { replies, scriptResponse } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { cobbler } from '../support/binary.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { Editor, EditorOptions } from './acp-editor.ts';
import { keptOf, seenOf, startEditor } from './acp-editor.ts';

const patience = { timeout: 120_000 };

interface Opened extends Editor {
  readonly folder: string;
  readonly home: string;
  readonly sessionId: string;
  say(...prompt: (string | ContentBlock)[]): Promise<string>;
  /** Returns the parts of the conversation that the model received with each request. */
  received(): object[][];
  /** Returns all exchanges with the model service as JSON. */
  sent(): string;
}

async function opened(
  script: readonly MockReply[],
  more: Partial<EditorOptions> & { folder?: string } = {},
): Promise<Opened> {
  const service = await mockService(script);
  const folder = more.folder ?? temporaryFolder();
  const home = temporaryFolder();
  const env = { ...claudeAt(service), COBBLER_HOME: home };
  const editor = await startEditor({ cwd: '/', env, ...more });
  const { sessionId } = await editor.agent.request('session/new', { cwd: folder, mcpServers: [] });
  return {
    ...editor,
    folder,
    home,
    sessionId,
    say: async (...words) => {
      const prompt = words.map((one) =>
        typeof one === 'string' ? { type: 'text' as const, text: one } : one,
      );
      return (await editor.agent.request('session/prompt', { sessionId, prompt })).stopReason;
    },
    received: () =>
      service.server.exchanges.map(({ request }) =>
        (request?.turns ?? []).flatMap(({ parts }) => [...parts]),
      ),
    sent: () => JSON.stringify(service.server.exchanges),
  };
}

const allowed = async () => ({ outcome: 'selected', optionId: 'allow' }) as const;
const call = { path: 'a.txt', content: 'one\ntwo\n' };

test(
  'ACP: asks about an edit with its diff, makes it and reports what the log records',
  patience,
  async () => {
    const editor = await opened([says('I write it.', ['write_file', call]), says('Written.')], {
      choose: allowed,
    });
    const { folder, home, sessionId } = editor;
    expect(editor.hello).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: 'cobbler' },
      agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true } },
    });
    expect(await editor.say('write a.txt')).toBe('end_turn');
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe(call.content);
    const path = join(folder, 'a.txt');
    const diff = { type: 'diff', path, oldText: null, newText: call.content };
    expect(editor.asked).toMatchObject([
      {
        toolCall: {
          toolCallId: 'call-1-0',
          kind: 'edit',
          title: 'write_file a.txt',
          content: [
            diff,
            {
              type: 'content',
              content: { type: 'text', text: '```\npath | a.txt\ncontent: see the diff\n```' },
            },
          ],
          locations: [{ path }],
        },
        options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }],
      },
    ]);
    const updates = editor.updates(sessionId);
    expect(updates).toContainEqual(
      expect.objectContaining({ status: 'in_progress', toolCallId: 'call-1-0' }),
    );
    expect(updates).toContainEqual(expect.objectContaining({ status: 'completed', content: [diff] }));
    // The text arrives in chunks, as the model streams it.
    expect(updates.filter((one) => one.sessionUpdate === 'agent_message_chunk').length).toBeGreaterThan(2);
    const end = await editor.leave();
    expect([end.code, end.stderr]).toEqual([0, '']);
    const kept = await keptOf(home, sessionId);
    expect(kept).toMatchObject({ answers: ['I write it.', 'Written.'], calls: [{ status: 'completed' }] });
    expect({ ...seenOf(updates), user: kept.user }).toEqual(kept);
  },
);

test('ACP: asks about a write to a protected file despite --edits [P21]', patience, async () => {
  const hook = { path: '.git/hooks/pre-commit', content: '#!/bin/sh\n' };
  const editor = await opened([says('', ['write_file', call], ['write_file', hook]), says('Done.')], {
    args: ['--edits'],
  });
  expect(await editor.say('write')).toBe('end_turn');
  expect(existsSync(join(editor.folder, 'a.txt'))).toBe(true);
  expect(existsSync(join(editor.folder, hook.path))).toBe(false);
  expect(editor.asked).toMatchObject([
    {
      toolCall: {
        title: `write_file ${hook.path}`,
        content: [
          { content: { text: expect.stringContaining('is protected') } },
          { type: 'diff' },
          { type: 'content' },
        ],
      },
      options: [{ kind: 'allow_once' }, { kind: 'reject_once' }],
    },
  ]);
  await editor.leave();
});

test('ACP: does not run a denied call, reports it as failed and informs the model', patience, async () => {
  const editor = await opened([says('', ['write_file', call]), says('As you wish.')]);
  expect(await editor.say('write')).toBe('end_turn');
  expect(existsSync(join(editor.folder, 'a.txt'))).toBe(false);
  await editor.leave();
  expect(editor.received()).toMatchObject([
    [{ type: 'text', text: 'write' }],
    [
      { type: 'text', text: 'write' },
      { type: 'call', name: 'write_file' },
      { type: 'result', text: 'A person denied this call.' },
    ],
  ]);
  const kept = await keptOf(editor.home, editor.sessionId);
  expect(kept.calls).toMatchObject([{ name: 'write_file', status: 'failed' }]);
  expect({ ...seenOf(editor.updates(editor.sessionId)), user: kept.user }).toEqual(kept);
});

test('ACP: stores the selected "always" rule in the project and does not ask again', patience, async () => {
  const command = { command: 'echo hi' };
  const script = [says('', ['run_command', command]), says('', ['run_command', command]), says('Done.')];
  const editor = await opened([...script, says('', ['run_command', { command: 'rm -rf x' }]), says('No.')], {
    choose: async ({ options }) => {
      const narrow = options.find(({ kind }) => kind === 'allow_always');
      return { outcome: 'selected', optionId: narrow?.optionId ?? 'deny' };
    },
  });
  expect(await editor.say('say hi twice')).toBe('end_turn');
  expect(editor.asked.map(({ options }) => options.map(({ name }) => name))).toEqual([
    ['Allow', 'Always allow run_command(echo hi)', 'Deny'],
  ]);
  expect(await editor.say('and remove x')).toBe('end_turn');
  expect(editor.asked[1]?.options.map(({ kind }) => kind)).toEqual(['allow_once', 'reject_once']);
  await editor.leave();
  const rules = readFileSync(join(editor.folder, '.cobbler', 'config.yaml'), 'utf8');
  expect(rules).toContain('run_command(echo hi)');
  expect(rules).not.toContain('echo hi *');
});

test('ACP: ends the running command on cancel and accepts another prompt', patience, async () => {
  const script = [says('', ['run_command', { command: 'sleep 60' }]), says('Still here.')];
  const editor = await opened(script, { args: ['--yes'] });
  const { sessionId } = editor;
  const end = editor.say('wait');
  await editor.until(
    sessionId,
    (one) => one.sessionUpdate === 'tool_call_update' && one.status === 'in_progress',
  );
  await editor.agent.notify('session/cancel', { sessionId });
  expect(await end).toBe('cancelled');
  expect(await editor.say('are you there?')).toBe('end_turn');
  await editor.leave();
  const seen = seenOf(editor.updates(sessionId));
  expect([seen.answers, seen.calls.map(({ status }) => status)]).toEqual([['Still here.'], ['failed']]);
  const kept = await keptOf(editor.home, sessionId);
  expect({ ...seen, user: kept.user }).toEqual(kept);
});

test(
  'ACP: ends the command when the editor disconnects, and records the run as cancelled',
  patience,
  async () => {
    const editor = await opened([says('', ['run_command', { command: 'sleep 60' }])], { args: ['--yes'] });
    const { sessionId } = editor;
    const prompt = editor.say('wait').catch(() => 'cut');
    await editor.until(
      sessionId,
      (one) => one.sessionUpdate === 'tool_call_update' && one.status === 'in_progress',
    );
    expect((await editor.leave()).code).toBe(0);
    expect(await prompt).toBe('cut');
    const store = sqliteStore(join(editor.home, 'sessions.db'));
    const events = await store.read(sessionId);
    await store.close();
    expect(events.at(-1)).toMatchObject({ type: 'finished', status: 'cancelled' });
  },
);

test('ACP: cancels the run when the editor cancels a permission request', patience, async () => {
  const editor = await opened([says('', ['write_file', call])], {
    choose: async () => ({ outcome: 'cancelled' }),
  });
  expect(await editor.say('write')).toBe('cancelled');
  await editor.leave();
});

test('ACP: lists a session, loads its whole conversation and continues it', patience, async () => {
  const first = await opened([says('Writing.', ['write_file', call]), says('Written.')], {
    choose: allowed,
  });
  await first.say('write it');
  await first.leave();
  const { folder, home, sessionId } = first;
  const service = await mockService([says('Once more.')]);
  const editor = await startEditor({ cwd: '/', env: { ...claudeAt(service), COBBLER_HOME: home } });
  expect(await editor.agent.request('session/list', { cwd: folder })).toMatchObject({
    sessions: [{ sessionId, cwd: folder, title: 'write it' }],
  });
  await editor.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
  // The updates arrive before the response to `session/load`.
  const before = seenOf(editor.updates(sessionId));
  expect(before).toEqual(await keptOf(home, sessionId));
  expect(before.user).toEqual(['write it']);
  const prompt: ContentBlock[] = [{ type: 'text', text: 'again' }];
  const { stopReason } = await editor.agent.request('session/prompt', { sessionId, prompt });
  expect(stopReason).toBe('end_turn');
  await editor.leave();
  const kept = await keptOf(home, sessionId);
  expect(kept.answers).toEqual(['Writing.', 'Written.', 'Once more.']);
  expect({ ...seenOf(editor.updates(sessionId)), user: kept.user }).toEqual(kept);
});

test('ACP: sends files and images with the prompt', patience, async () => {
  const editor = await opened([says('Seen.')]);
  const path = join(editor.folder, 'notes.md');
  writeFileSync(path, 'the word is heron');
  const picture = { type: 'image' as const, mimeType: 'image/png', data: 'iVBORw0KGgo=' };
  const link = { type: 'resource_link' as const, name: 'notes.md', uri: pathToFileURL(path).href };
  const uri = pathToFileURL(join(editor.folder, 'b.md')).href;
  const unsaved = { type: 'resource' as const, resource: { uri, text: 'not saved yet' } };
  expect(await editor.say('compare ', link, ' and ', unsaved, picture)).toBe('end_turn');
  await editor.leave();
  const [words, ...more] = (await keptOf(editor.home, editor.sessionId)).user;
  expect(words).toBe('compare @notes.md and @b.md');
  expect(more).toEqual([
    expect.stringContaining('the word is heron'),
    expect.stringContaining('not saved yet'),
  ]);
  expect(editor.sent()).toContain('iVBORw0KGgo=');
});

test(
  'ACP: returns a stop reason for each ended run, and an error message for each failure',
  patience,
  async () => {
    const stopped = (stop: 'max_tokens' | 'refusal') =>
      replies(scriptResponse(['Half'], { stop, model: 'claude-test' }));
    const list = ['list_files', {}] as const;
    const broken = { type: 'raw', status: 401, body: '{}' } as const;
    const script = [stopped('max_tokens'), stopped('refusal'), says('', list), broken];
    const editor = await opened(script, { args: ['--max-turns', '1'] });
    expect(await editor.say('one')).toBe('max_tokens');
    expect(await editor.say('two')).toBe('refusal');
    expect(await editor.say('three')).toBe('max_turn_requests');
    await expect(editor.say('four')).rejects.toThrow(/ANTHROPIC_API_KEY was rejected/);
    const elsewhere = { sessionId: 'none', cwd: editor.folder, mcpServers: [] };
    await expect(editor.agent.request('session/load', elsewhere)).rejects.toThrow('no session "none"');
    const nowhere = { cwd: join(editor.folder, 'gone'), mcpServers: [] };
    await expect(editor.agent.request('session/new', nowhere)).rejects.toThrow('does not exist');
    await editor.leave();
  },
);

test('ACP: exits with 0 when its input is empty, and leaves standard output empty', patience, async () => {
  const { code, stdout } = await cobbler(['acp'], { env: { COBBLER_HOME: temporaryFolder() } });
  expect([code, stdout]).toEqual([0, '']);
});

test('ACP: cleans up and exits with 0 after MCP servers that could not be set up', patience, async () => {
  const env = { COBBLER_HOME: temporaryFolder(), ANTHROPIC_API_KEY: 'sk-test' };
  const editor = await startEditor({ cwd: '/', env, args: ['--mcp', 'broken'] });
  const session = { cwd: temporaryFolder(), mcpServers: [] };
  await expect(editor.agent.request('session/new', session)).rejects.toThrow('--mcp "broken"');
  expect(await editor.leave()).toEqual({ code: 0, stderr: '' });
});
