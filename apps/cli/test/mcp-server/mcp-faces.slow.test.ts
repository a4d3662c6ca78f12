// Tests tools of MCP servers in each interface; mcp-servers.test.ts covers `run`.
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { startEditor } from '../acp/acp-editor.ts';
import { atTerminal, hasScript } from '../support/at-terminal.ts';
import { greeterFlag, greetersLeft } from '../support/greeter.ts';
import { cobbler } from '../support/in-process.ts';
import type { MockService } from '../support/mock-service.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { serving, until } from '../support/serving.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };
const greets = () => [says('', ['mcp__greeter__greet', { name: 'Ada' }]), says('I have greeted her.')];

interface Place {
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly service: MockService;
  readonly flags: readonly [string, string];
  /** Returns the ids of the server processes that still run. */
  left(): number[];
}

async function place(): Promise<Place> {
  const service = await mockService(greets());
  const [cwd, home] = [temporaryFolder(), temporaryFolder()];
  const log = join(home, 'starts');
  return {
    cwd,
    env: { ...claudeAt(service), COBBLER_HOME: home },
    service,
    flags: ['--mcp', greeterFlag(log)],
    left: () => greetersLeft(log),
  };
}

const heard = ({ server }: MockService) => JSON.stringify(server.exchanges);

test(
  'acp asks the editor before it runs an MCP tool, and the model gets the result [P21]',
  patience,
  async () => {
    const { cwd, env, service, flags, left } = await place();
    const choose = async () => ({ outcome: 'selected', optionId: 'allow' }) as const;
    const editor = await startEditor({ cwd: '/', env, args: flags, choose });
    const { sessionId } = await editor.agent.request('session/new', { cwd, mcpServers: [] });
    const prompt = [{ type: 'text' as const, text: 'greet Ada' }];
    const answer = await editor.agent.request('session/prompt', { sessionId, prompt });
    expect(answer).toMatchObject({ stopReason: 'end_turn' });
    expect(editor.asked.map(({ toolCall }) => toolCall.title)).toEqual([expect.stringContaining('greet')]);
    expect(heard(service)).toContain('Good day, Ada!');
    expect(await editor.leave()).toMatchObject({ code: 0 });
    expect(left()).toEqual([]);
  },
);

test('over HTTP, an MCP tool waits until the user allows it [P21]', patience, async () => {
  const { cwd, env, service, flags, left } = await place();
  const server = await serving(env, cwd, ...flags);
  await server.ask('POST', '/v1/sessions', { id: 'work' });
  await server.ask('POST', '/v1/sessions/work/prompt', { content: 'Greet Ada.' });
  await until(server, 'work', 'waiting');
  expect(heard(service)).not.toContain('Good day');
  const { items } = (await server.ask('GET', '/v1/approvals')).json as { items: { approvalId: string }[] };
  expect(await cobbler(['approve', items[0]?.approvalId ?? ''], { env })).toMatchObject({ code: 0 });
  await until(server, 'work', 'complete');
  expect(heard(service)).toContain('Good day, Ada!');
  server.child.kill('SIGTERM');
  expect(await server.end).toMatchObject({ code: 0 });
  expect(left()).toEqual([]);
});

test.skipIf(!hasScript)(
  'chat runs an MCP tool and leaves no server process behind (needs script from util-linux)',
  patience,
  async () => {
    const { cwd, env, service, flags, left } = await place();
    const end = await atTerminal(['chat', '--yes', ...flags], {
      env,
      cwd,
      typing: [
        ['describe a task', 'greet Ada'],
        ['greet Ada', '\r'],
        ['her.', '\x04'],
      ],
    });
    expect(end.code, stripVTControlCharacters(end.stdout)).toBe(0);
    expect(heard(service)).toContain('Good day, Ada!');
    expect(left()).toEqual([]);
  },
);
