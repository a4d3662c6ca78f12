import { Executor, rules } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test, vi } from 'vitest';
import { mcpToolName } from '../../src/mcp/index.ts';
import { stage } from './stage.ts';

describe('the name of a tool', () => {
  test.each([
    ['read_file', 'mcp__fs__read_file'],
    ['read-file', 'mcp__fs__read-file'],
    ['read.file', /^mcp__fs__read_file_[0-9a-f]{6}$/],
    ['read file', /^mcp__fs__read_file_[0-9a-f]{6}$/],
    ['чтение', /^mcp__fs_________[0-9a-f]{6}$/],
    ['', /^mcp__fs___[0-9a-f]{6}$/],
    ['x'.repeat(100), /^mcp__fs__x{48}_[0-9a-f]{6}$/],
  ])('%j', (own, wanted) => {
    const name = mcpToolName('fs', own);
    expect(name).toMatch(typeof wanted === 'string' ? new RegExp(`^${wanted}$`) : wanted);
    expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  test('is unique even if two names look the same after cleaning', () => {
    const names = ['a.b', 'a b', 'a_b', 'a/b'].map((own) => mcpToolName('s', own));
    expect(new Set(names).size).toBe(4);
  });

  test('cannot belong to another server, because ambiguous server names are invalid', async () => {
    await expect(stage('', {}, { servers: { a__b: { command: 'x' } } })).rejects.toThrow(
      'entry "a__b" has an invalid name',
    );
    await expect(stage('', {}, { servers: { a_: { command: 'x' } } })).rejects.toThrow(
      'entry "a_" has an invalid name',
    );
  });
});

describe('a list with invalid tools', () => {
  test('omits the invalid tools, each with a reason, and keeps the others [P9, P11]', async () => {
    const { mcp } = await stage('odd');
    const [report] = mcp.servers;
    const why = Object.fromEntries((report?.leftOut ?? []).map((one) => [one.name, one.why]));
    expect(why).toMatchObject({
      'no-schema': 'its schema does not describe an object',
      'a-list': 'its schema does not describe an object',
      'not-schemas': 'its schema has properties that are not schemas',
      'bad-required': 'its schema requires properties whose names are not strings',
      'odd-property': 'providers do not accept its property "a b"',
      elsewhere: 'its schema refers to another document',
      dynamic: 'its schema refers to another document',
      'looks-back': 'its schema is invalid: its pattern "(a+)\\\\1" cannot be matched in linear time',
      'goes-round': 'its schema is invalid: validation against it takes too many steps',
      'no-type': 'its schema is invalid: #/properties/a/type is "strin", which is not a JSON Schema type',
      'no-pattern':
        'its schema is invalid: #/properties/a/pattern is "(", which is not a valid regular expression',
      nowhere: 'its schema is invalid: it refers to "#/$defs/none", which does not exist',
      wide: 'its schema exceeds 32 KiB',
      deep: 'its schema is nested more than 32 levels deep',
      task: 'it only works as a background task',
      twice: 'another tool has this name',
      '?': 'it has no name',
      many119: 'a server can have at most 100 tools',
    });
    expect(mcp.tools).toHaveLength(100);
    expect(new Set(mcp.tools.map(({ name }) => name)).size).toBe(100);
  });

  test('shows the model all arguments of a combined schema and checks the whole schema [P9, P11]', async () => {
    const { tool } = await stage('odd', { tools: ['combined'] });
    const { parameters, validate } = tool('combined');
    expect(Object.keys(parameters).sort()).toEqual([
      '$defs',
      'properties',
      'required',
      'type',
      'unevaluatedProperties',
    ]);
    expect(Object.keys(parameters['properties'] ?? {})).toEqual(['kind', 'name', 'size', 'tags']);
    expect(parameters['required']).toEqual(['size']);
    const problemOf = async (args: Record<string, unknown>) => {
      const valid = await validate?.(args);
      return valid?.ok === false ? valid.problem : undefined;
    };
    expect(await problemOf({ size: 2, kind: 'a' })).toBeUndefined();
    expect(await problemOf({ size: 2, name: 'x', tags: ['p', 'q'] })).toBeUndefined();
    expect(await problemOf({ size: 3, kind: 'a' })).toBe('size must be a multiple of 2');
    expect(await problemOf({ size: 2 })).toBe('the arguments must match one of the allowed forms');
    expect(await problemOf({ size: 2, kind: 'a', more: 1 })).toBe('more is not a known argument');
    expect(await problemOf({ size: 2, kind: 'a', tags: [1, 1] })).toBe(
      'tags must not contain duplicate items',
    );
    // The regular expression engine of JavaScript would need hours for this value.
    expect(await problemOf({ size: 2, kind: `${'a'.repeat(40)}!` })).toBe('kind must match ^(a+)+$');
  });

  test('has short descriptions without terminal control sequences', async () => {
    const { tool, mcp } = await stage('odd', { tools: ['fine.one'] });
    const [only] = mcp.tools;
    expect(mcp.tools).toHaveLength(1);
    expect(only?.description.length).toBeLessThanOrEqual(2000);
    expect(only?.description).not.toContain('\u001b');
    expect(only?.description).not.toContain('\u0007');
    expect(() => tool('many1')).toThrow('Unknown tool: many1');
  });
});

describe('the configuration of a tool', () => {
  const effects = async (limits: object) => {
    const { tool } = await stage('', limits);
    return ['boast', 'echo', 'die'].map((name) => tool(name).effect);
  };

  test('uses the effect "once" by default and ignores the hints of the server [P9]', async () => {
    expect(await effects({})).toEqual(['once', 'once', 'once']);
  });

  test('can set the effect of each tool', async () => {
    expect(await effects({ effects: { boast: 'read', die: 'idempotent' } })).toEqual([
      'read',
      'once',
      'idempotent',
    ]);
  });

  test('can trust the hints of the server, except for tools whose effect it sets', async () => {
    expect(await effects({ trustHints: true, effects: { echo: 'once' } })).toEqual(['read', 'once', 'once']);
  });

  test('can allow repeated calls with the same result', async () => {
    const repeats = async (config: object) => {
      const { tool } = await stage('', config);
      return ['boast', 'echo'].map((name) => tool(name).mayRepeat);
    };
    expect(await repeats({})).toEqual([false, false]);
    expect(await repeats({ mayRepeat: ['echo'] })).toEqual([false, true]);
    expect(await repeats({ mayRepeat: true })).toEqual([true, true]);
  });

  test('does not replace the gate, which checks each call with its arguments as the subject [P21]', async () => {
    const { mcp, notes } = await stage('');
    const call = (args: object) => ({ calls: [{ name: 'mcp__fake__echo', arguments: { ...args } }] });
    const agent = scriptedAgent([call({ path: 'a' }), call({ path: 'secret' }), 'done']);
    const gate = rules({ deny: ['mcp__fake__echo(*secret*)'], otherwise: 'allow' });
    const { messages } = await new Executor({ agent, tools: mcp.tools, gate }).run('go');
    expect(messages.filter(({ role }) => role === 'tool_result')).toMatchObject([
      { content: [{ text: '{"path":"a"}' }] },
      { isError: true },
    ]);
    expect(notes().filter((line) => line === 'called echo')).toHaveLength(1);
  });
});

describe('a changed list', () => {
  test('is announced immediately, but the tools stay the same objects until they are reloaded [S4.11]', async () => {
    const { mcp, call, changes } = await stage('');
    const before = mcp.tools;
    await call('grow');
    await vi.waitUntil(() => changes.length > 0, 10_000);
    expect(changes).toEqual([{ server: 'fake', added: ['mcp__fake__new'], removed: [], changed: [] }]);
    expect(mcp.tools).toEqual(before);
    expect(mcp.tools.every((tool, place) => tool === before[place])).toBe(true);
    expect(await mcp.takeUp()).toEqual(changes);
    expect(mcp.tools).toHaveLength(before.length + 1);
    expect(await mcp.takeUp()).toEqual([]);
  });

  test('is also announced if the server restarts with another list after a crash', async () => {
    const { mcp, call, changes } = await stage('');
    await call('grow');
    await vi.waitUntil(() => changes.length === 1, 10_000);
    await mcp.takeUp();
    await call('die').catch(() => undefined);
    await call('echo');
    await vi.waitUntil(() => changes.length === 2, 10_000);
    expect(changes[1]).toEqual({ server: 'fake', added: [], removed: ['mcp__fake__new'], changed: [] });
  });

  test('makes a call of a removed tool fail with the error of the server', async () => {
    const { mcp, call, changes } = await stage('');
    await call('grow');
    await vi.waitUntil(() => changes.length === 1, 10_000);
    await mcp.takeUp();
    await call('die').catch(() => undefined);
    await expect(call('new')).rejects.toThrow('it rejected the request (-32602): no new here');
  });
});

describe('a call', () => {
  test('returns text, images and PDFs, and describes other content', async () => {
    const { call } = await stage('');
    const { parts } = await call('parts');
    expect(parts).toEqual([
      { type: 'text', text: 'First.' },
      { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
      { type: 'text', text: '[image of type image/svg+xml, 6 bytes: not supported by models]' },
      { type: 'text', text: '[image of type image/png, 3 bytes: it is not base64]' },
      { type: 'text', text: '[audio of type audio/wav, 6 bytes: not supported by models]' },
      { type: 'text', text: '[file:///a.txt]\nInside.' },
      { type: 'text', text: '[file:///a.pdf]' },
      { type: 'file', mediaType: 'application/pdf', data: 'JVBERg==' },
      { type: 'text', text: '[file:///b · b · another]' },
      { type: 'text', text: '[a part of type hologram, which is not supported]' },
    ]);
  });

  test('returns data without text as text', async () => {
    const { call } = await stage('');
    expect((await call('data')).text).toBe('{"a":1}');
  });

  test('reports limited progress: short, clean, and including the last message', async () => {
    const { call } = await stage('');
    const told: string[] = [];
    await call('progress', {}, { progress: (text) => told.push(text) });
    expect(told.length).toBeLessThan(100);
    expect(told.at(-1)).toMatch(/^500\/500 step\\u\{1b\} p+…$/);
    expect(Math.max(...told.map((text) => text.length))).toBeLessThan(320);
  });
});
