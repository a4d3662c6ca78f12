import { OutputCapture } from '@cobbler/agent/node';
import { fakeRuntime } from '@cobbler/agent/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { BackgroundStart } from '../../src/index.ts';
import { BackgroundCommands } from '../../src/index.ts';

/** A command that prints and ends when the test says so. */
function scripted(command = 'serve') {
  const exit = Promise.withResolvers<string>();
  let print: (text: string) => void = () => {};
  const start: BackgroundStart = {
    command,
    untrusted: false,
    run: ({ signal, onOutput }) => {
      print = (text) => onOutput(new TextEncoder().encode(text));
      signal.addEventListener('abort', () => exit.resolve('cancelled'));
      return exit.promise;
    },
  };
  return { start, print: (text: string) => print(text), exit: exit.resolve };
}

describe('background commands', () => {
  it('keep their output and how they ended', async () => {
    const runtime = fakeRuntime();
    const commands = new BackgroundCommands({ runtime });
    const { start, print, exit } = scripted();
    const { id } = commands.start('a', start);
    print('listening\n');
    expect(commands.get('a', id)).toMatchObject({ id: 'bg1', status: 'running', output: 'listening\n' });
    exit('exit 1');
    await commands.wait('a', id, 60_000);
    expect(commands.get('a', id)).toMatchObject({ status: 'exit 1', output: 'listening\n' });
  });

  it('are waited for until their output contains a text, and at most for a time', async () => {
    const runtime = fakeRuntime();
    const commands = new BackgroundCommands({ runtime });
    const { start, print } = scripted();
    const { id } = commands.start('a', start);
    const found = commands.wait('a', id, 60_000, { until: 'ready' });
    print('rea');
    print('dy');
    await found;
    const late = commands.wait('a', id, 60_000, { until: 'never' });
    await runtime.advance(60_000);
    await late;
    await commands.wait('a', id, 60_000, { signal: AbortSignal.abort() });
  });

  it('are listed without a copy of their output', () => {
    const commands = new BackgroundCommands();
    commands.start('a', scripted().start);
    const text = vi.spyOn(OutputCapture.prototype, 'text');
    onTestFinished(() => text.mockRestore());
    expect(commands.list('a').map(({ status }) => status)).toEqual(['running']);
    expect(text).not.toHaveBeenCalled();
    expect(commands.list('a').map(({ output }) => output)).toEqual(['']);
  });

  it('belong to their owner, who can give them to another one', async () => {
    const commands = new BackgroundCommands();
    const { id } = commands.start('a', scripted().start);
    expect(commands.list('b')).toEqual([]);
    await expect(commands.stop('b', id)).rejects.toThrow('There is no background command "bg1".');
    commands.move('a', 'b');
    expect(() => commands.get('a', id)).toThrow('There is no background command');
    expect(commands.start('b', scripted().start).id).toBe('bg2');
    await commands.stop('b', id);
    expect(commands.list('b').map(({ status }) => status)).toEqual(['cancelled', 'running']);
  });

  it('are limited in number, and none starts after the end', async () => {
    const commands = new BackgroundCommands({ maxRunning: 2 });
    for (let count = 0; count < 2; count += 1) commands.start('a', scripted().start);
    expect(() => commands.start('a', scripted().start)).toThrow('2 background commands are running');
    commands.start('b', scripted().start);
    await commands.close();
    expect([...commands.list('a'), ...commands.list('b')].every(({ status }) => status === 'cancelled')).toBe(
      true,
    );
    expect(() => commands.start('c', scripted().start)).toThrow('The program is ending');
  });

  it('are limited in number over all owners, and only the latest owners are remembered', async () => {
    const commands = new BackgroundCommands();
    for (let count = 0; count < 150; count += 1) {
      const { start, exit } = scripted();
      commands.start(`ended${count}`, start);
      exit('exit 0');
      await commands.wait(`ended${count}`, 'bg1', 1000);
    }
    expect(commands.list('ended0')).toEqual([]);
    expect(commands.list('ended149')).toHaveLength(1);
    for (let count = 0; count < 64; count += 1) commands.start(`a${count}`, scripted().start);
    expect(() => commands.start('b', scripted().start)).toThrow('64 background commands are running');
    expect(commands.list('a0')).toHaveLength(1);
    await commands.close();
  });

  it('end when their owner is forgotten, whose name then has none of them', async () => {
    const commands = new BackgroundCommands();
    const { start } = scripted();
    let isStopped = false;
    commands.start('a', {
      ...start,
      run: async (ports) => {
        const status = await start.run(ports);
        isStopped = true;
        return status;
      },
    });
    await commands.forget('a');
    expect([isStopped, commands.list('a')]).toEqual([true, []]);
    await commands.forget('never');
  });

  it('forget the oldest of those that ended', async () => {
    const commands = new BackgroundCommands();
    for (let count = 0; count < 30; count += 1) {
      const { start, exit } = scripted(`n${count}`);
      const { id } = commands.start('a', start);
      exit('exit 0');
      await commands.wait('a', id, 1000);
    }
    const ids = commands.list('a').map(({ id }) => id);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([21, 'bg10', 'bg30']);
  });
});
