import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { client, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { expect, onTestFinished, test, vi } from 'vitest';
import { AcpSession } from '../../src/acp/acp-session.ts';
import { acp } from '../../src/commands/acp.ts';
import { bareEnvironment } from '../support/binary.ts';
import { fakeIo } from '../support/fake-io.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('cobbler acp completes its audit log even if a session cannot be closed', async () => {
  const service = await mockService([says('', ['run_command', { command: 'echo hi' }]), says('Done.')]);
  const [home, cwd] = [temporaryFolder(), temporaryFolder()];
  const [input, output] = [new PassThrough(), new PassThrough()];
  const spies = [
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as never),
    vi.spyOn(process, 'stdout', 'get').mockReturnValue(output as never),
    vi.spyOn(AcpSession.prototype, 'close').mockRejectedValue(new Error('not closed')),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  const env = bareEnvironment({ ...claudeAt(service), COBBLER_HOME: home, COBBLER_SANDBOX: 'off' });
  const end = acp({}, fakeIo({ env, cwd, input: '' })).catch((error: unknown) => error);
  const app = client({ name: 'editor' })
    .onRequest('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'deny' } }))
    .onNotification('session/update', () => undefined);
  const { agent } = app.connect(
    ndJsonStream(Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>),
  );
  await agent.request('initialize', { protocolVersion: PROTOCOL_VERSION });
  const { sessionId } = await agent.request('session/new', { cwd, mcpServers: [] });
  await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] });
  input.end();
  expect(await end).toEqual(new Error('not closed'));
  const lines = readFileSync(join(home, 'audit', 'audit.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ kind: 'head', surface: 'acp' });
});
