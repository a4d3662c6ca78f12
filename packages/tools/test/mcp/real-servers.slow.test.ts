import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Executor, rules, textOf } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { folder, programOf, staged } from './stage.ts';

const everything = {
  command: process.execPath,
  args: [programOf('@modelcontextprotocol/server-everything')],
};

function files(root: string) {
  const program = programOf('@modelcontextprotocol/server-filesystem');
  return { command: process.execPath, args: [program, root], effects: { read_text_file: 'read' } as const };
}

describe('@modelcontextprotocol/server-everything', () => {
  test('offers all its tools except the one that is a background task', async () => {
    const { mcp } = await staged({ everything });
    const [report] = mcp.servers;
    expect(report).toMatchObject({ identity: 'mcp-servers/everything 2.0.0', tools: 12 });
    expect(report?.leftOut).toEqual([
      { name: 'simulate-research-query', why: 'it only works as a background task' },
    ]);
  });

  test('returns text, an image, data, resources and progress', async () => {
    const { call } = await staged({ everything });
    expect((await call('echo', { message: 'hello' })).text).toBe('Echo: hello');
    const { parts } = await call('get-tiny-image');
    expect(parts).toContainEqual(expect.objectContaining({ type: 'file', mediaType: 'image/png' }));
    const weather = await call('get-structured-content', { location: 'Chicago' });
    expect(JSON.parse(weather.text)).toHaveProperty('temperature');
    expect((await call('get-resource-links', { count: 2 })).text).toContain('demo://resource/');
    const told: string[] = [];
    const slow = { duration: 0.4, steps: 2 };
    await call('trigger-long-running-operation', slow, { progress: (text) => told.push(text) });
    expect(told[0]).toBe('1/2');
  });

  test('receives harmless environment variables, but no API key [P19]', async () => {
    const env = { ...process.env, OPENAI_API_KEY: 'sk-0123456789' };
    const { call } = await staged({ everything }, { env });
    const { text } = await call('get-env');
    expect(Object.keys(JSON.parse(text))).toContain('PATH');
    expect(text).not.toContain('OPENAI_API_KEY');
  });
});

describe('@modelcontextprotocol/server-filesystem', () => {
  test('reads without approval, writes only if allowed, and stays in its directory [P21]', async () => {
    const root = folder();
    writeFileSync(join(root, 'a.txt'), 'treasure');
    const { mcp } = await staged({ files: files(root) });
    const call = (name: string, args: object) => ({
      calls: [{ name: `mcp__files__${name}`, arguments: { ...args } }],
    });
    const agent = scriptedAgent([
      call('read_text_file', { path: join(root, 'a.txt') }),
      call('write_file', { path: join(root, 'b.txt'), content: 'no' }),
      call('read_text_file', { path: '/etc/passwd' }),
      'done',
    ]);
    const gate = rules({ allow: ['mcp__files__read_*'], otherwise: 'deny' });
    const { messages, status } = await new Executor({ agent, tools: mcp.tools, gate }).run('go');
    const [read, written, outside] = messages.filter(({ role }) => role === 'tool_result');
    expect(status).toBe('complete');
    expect(read && textOf(read)).toBe('treasure');
    expect(written).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('permission') }],
    });
    expect(outside).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Access denied') }],
    });
  });
});
