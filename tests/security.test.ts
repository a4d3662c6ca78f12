import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');
const rows = text
  .split('\n')
  .filter((line) => /^\| (?!Boundary|-|Version|Latest|Older)/.test(line) && line.split(' | ').length === 4);

/** The inputs and interfaces that need a policy. */
const boundaries = [
  'model output: tool calls',
  'model output: actions',
  'model output: keys and files that other programs execute',
  "a project's own instructions",
  "a project's agent folder",
  'a rule for commands',
  'model output: text in a terminal',
  'model output: text in the web page',
  'tool output',
  'MCP server',
  'MCP server: tool schemas',
  "MCP server: Cobbler's secrets",
  'bot webhook',
  'Telegram users',
  'HTTP API',
  'HTTP API: sessions',
  'HTTP API: other sites and host names',
  'HTTP API: invalid requests',
  'approval',
  "the web page's cookie",
  'file tools',
  'commands',
  'commands in the sandbox',
  'commands without a sandbox',
  'project configuration',
  'keys',
  'Claude Code, Codex',
  "Claude Code, Codex: Cobbler's secrets",
  'the ports of Restate, its handlers and PostgreSQL',
  'session files',
  'audit log',
  'cassettes',
  'backup',
];

describe('SECURITY.md', () => {
  test('has exactly one row for every boundary', () => {
    expect(rows.map((row) => row.split(' | ')[0]?.slice(2))).toEqual(boundaries);
  });

  test('marks only boundaries outside Cobbler as not tested', () => {
    const untested = rows.filter((row) => row.endsWith('not tested here |'));
    expect(untested.map((row) => row.split(' | ')[0]?.slice(2))).toEqual([
      'the ports of Restate, its handlers and PostgreSQL',
    ]);
  });

  test.each(rows.map((row) => [row.split(' | ')[0]?.slice(2) ?? '', row]))(
    '%s: the linked files and the quoted test exist',
    (_, row) => {
      for (const [, path = ''] of row.matchAll(/\]\(([^)#]+)/g))
        expect(existsSync(join(root, path)), path).toBe(true);
      const proof = /\]\(([^)]+)\): "([^"]+)" \|$/.exec(row);
      if (proof === null) return expect(row).toMatch(/not tested here \|$/);
      const [, file = '', words = ''] = proof;
      expect(readFileSync(join(root, file), 'utf8')).toContain(words);
    },
  );
});
