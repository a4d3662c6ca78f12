import type { Tool, ToolContext } from '@cobbler/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BackgroundCommands, workspaceTools } from '../../src/index.ts';
import type { Sandbox } from '../sandbox.ts';
import { call, sandbox } from '../sandbox.ts';

describe('run_command in the background', () => {
  let box: Sandbox;
  let commands: BackgroundCommands;
  let tools: Map<string, Tool>;
  const session = (id: string) => ({ sessionId: id }) as Partial<ToolContext>;

  beforeEach(() => {
    box = sandbox();
    commands = new BackgroundCommands();
    const all = workspaceTools({ root: box.root, sandbox: 'off', background: commands, graceMs: 200 });
    tools = new Map(all.map((tool) => [tool.name, tool]));
  });

  afterEach(async () => {
    await commands.close();
    box.remove();
  });

  async function use(
    name: string,
    args: Record<string, unknown>,
    context: Partial<ToolContext> = session('s'),
  ) {
    const tool = tools.get(name);
    if (tool === undefined) throw new Error(`Unknown tool: ${name}.`);
    return await call(tool, args, context);
  }

  it('returns while the command runs, whose output can be read until it is stopped', async () => {
    const started = await use('run_command', {
      command: 'echo $$ > pid; echo up >&2; while :; do sleep 0.05; done',
      background: true,
    });
    expect(started.text).toMatch(/^\[bg1: running, \d+ s\] echo .*\nup\n$/s);
    const pid = Number(box.read('pid'));
    expect((await use('background_command', { action: 'list' })).text).toMatch(/^\[bg1: running, \d+ s\]/);
    expect((await use('background_command', { action: 'list' }, session('other'))).text).toMatch(
      /^No command/,
    );
    expect((await use('background_command', { action: 'stop', id: 'bg1' })).text).toMatch(
      /^\[bg1: cancelled/,
    );
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('reports a command that fails immediately, and waits for a text', async () => {
    const failed = await use('run_command', { command: 'echo no; exit 3', background: true });
    expect(failed.text).toMatch(/^\[bg1: exit 3, \d s\] echo no; exit 3\nno\n$/);
    await use('run_command', { command: 'sleep 1.2; echo ready; sleep 60', background: true });
    const read = { action: 'read', id: 'bg2', wait_seconds: 60, until: 'ready' };
    expect((await use('background_command', read)).text).toMatch(/running.*\nready\n$/);
    expect((await use('background_command', { action: 'read' })).text).toContain('needs an id');
  });

  it('ends everything when it is closed', async () => {
    await use('run_command', { command: 'echo $$ > pid; sleep 600', background: true });
    const pid = Number(box.read('pid'));
    await commands.close();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('is not offered without a place for such commands', () => {
    const [names, offers] = [
      workspaceTools({ root: box.root, sandbox: 'off' }).map(({ name }) => name),
      JSON.stringify(workspaceTools({ root: box.root, sandbox: 'off' }).map(({ parameters }) => parameters)),
    ];
    expect(names).not.toContain('background_command');
    expect(offers).not.toContain('"background"');
  });
});
