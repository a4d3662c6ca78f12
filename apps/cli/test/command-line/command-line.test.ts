import { describe, expect, test } from 'vitest';
import {
  commandNames,
  commandRow,
  commands,
  flagNames,
  optionsOf,
} from '../../src/command-line/command-table.ts';
import { commandHelp, overview } from '../../src/command-line/help.ts';
import { parseCommandLine } from '../../src/command-line/parse.ts';
import { readRunFlags } from '../../src/config/run-flags.ts';
import { nearest } from '../../src/terminal/suggestion.ts';
import { widthOf } from '../../src/terminal/text-width.ts';

const flagsOf = (...args: string[]) => readRunFlags(parseCommandLine(['run', ...args, 'x']).options);

describe('the command line', () => {
  test('treats words that name no command as a prompt', () => {
    expect(parseCommandLine(['fix the bug'])).toMatchObject({ command: 'run', operands: ['fix the bug'] });
    expect(parseCommandLine(['run', 'fix', 'the', 'bug']).operands).toEqual(['fix', 'the', 'bug']);
    expect(parseCommandLine(['-m', 'fast', 'hello there']).options).toEqual({
      agents: true,
      contextFiles: true,
      model: 'fast',
    });
    expect(parseCommandLine(['--', '-x is wrong']).operands).toEqual(['-x is wrong']);
    expect(parseCommandLine([])).toMatchObject({ command: 'run', operands: [] });
  });

  test('does not read the prompt after --json as its value', () => {
    expect(parseCommandLine(['--json', 'prompt text']).operands).toEqual(['prompt text']);
    expect(flagsOf('--json').form).toBe('json');
    expect(flagsOf('--json=deltas').form).toBe('json-deltas');
    expect(flagsOf('-q').form).toBe('quiet');
    expect(flagsOf('-p').form).toBe('people');
  });

  test('collects repeated options', () => {
    const flags = flagsOf('-f', 'a', '--attach', 'b', '--allow', 'run_command(x)', '--allow', 'edit_file');
    expect(flags.attach).toEqual(['a', 'b']);
    expect(flags.allow).toEqual(['run_command(x)', 'edit_file']);
  });

  test('parses limits with units', () => {
    expect(
      flagsOf('--timeout', '10m', '--max-usd', '0.50', '--max-tokens', '200k', '--max-turns', '5'),
    ).toMatchObject({
      timeoutMs: 600_000,
      maxUsd: 0.5,
      maxTokens: 200_000,
      maxTurns: 5,
    });
  });

  test('--max-repeats takes a number, or never', () => {
    expect(flagsOf('--max-repeats', '20').maxRepeats).toBe(20);
    expect(flagsOf('--max-repeats', 'never').maxRepeats).toBe(0);
    expect(flagsOf().maxRepeats).toBeUndefined();
  });

  test('parses --tools as a list or none', () => {
    expect(flagsOf('--tools', 'read_file, list_files').tools).toEqual(['read_file', 'list_files']);
    expect(flagsOf('--tools', 'none').tools).toEqual([]);
    expect(flagsOf().tools).toBeUndefined();
  });

  test.each([
    [['--modle', 'x', 'y'], 'There is no option --modle. Did you mean --model?'],
    [['--max-turn=3', 'y'], 'There is no option --max-turn. Did you mean --max-turns?'],
    [['modls'], 'There is no command "modls". Did you mean models?'],
    [['doctr'], 'There is no command "doctr". Did you mean doctor?'],
    [['-m', 'fast', 'models'], 'Options must follow the command.'],
    [['--timeout'], "Option '--timeout <time>' argument missing."],
    [['--json=all', 'x'], '--json=all is not an output format.'],
    [['models', 'x'], "Too many arguments for 'models'. Expected 0 arguments but got 1: x."],
  ])('rejects the command line %j: %s', (args, message) => {
    expect(() => parseCommandLine(args)).toThrow(message);
  });

  test.each([
    [['--ask', '--yes'], '--ask and --yes cannot be used together.'],
    [['--read-only', '--allow', 'x'], '--read-only and --allow cannot be used together.'],
    [['--json', '-q'], '--json and --quiet cannot be used together.'],
    [['--max-usd', 'abc'], '--max-usd cannot be "abc".'],
    [['--timeout', '10 years'], '--timeout cannot be "10 years".'],
    [['--api', 'soap'], '--api cannot be "soap".'],
    [['--base-url', 'localhost'], '--base-url "localhost" is not an http or https URL.'],
  ])('rejects the options %j: %s', (args, message) => {
    expect(() => flagsOf(...args)).toThrow(message);
  });

  test('treats a word that resembles no command as a prompt', () => {
    expect(parseCommandLine(['clarify']).operands).toEqual(['clarify']);
    expect(nearest('clarify', commandNames)).toBeUndefined();
  });
});

describe('help', () => {
  test('fits a screen: at most 40 lines of 80 columns, in ASCII', () => {
    const lines = overview().split('\n');
    expect(lines.length).toBeLessThanOrEqual(40);
    for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(80);
    expect(overview()).toMatch(/^[\x20-\x7e\n]+$/);
  });

  test('starts with five examples, and lists exit codes and variables', () => {
    const lines = overview().split('\n');
    expect(lines.slice(2, 7).filter((line) => line.includes('cobbler '))).toHaveLength(5);
    for (const word of ['0 complete', '124', '130', 'ANTHROPIC_API_KEY', 'COBBLER_HOME', 'NO_COLOR']) {
      expect(overview()).toContain(word);
    }
  });

  test('contains only valid examples and options', () => {
    const examples = overview()
      .split('\n')
      .flatMap((line) => /^ {2}(?:git diff \| )?cobbler (.+?) {2,}/.exec(line)?.[1] ?? []);
    expect(examples).toHaveLength(5);
    for (const example of examples) {
      const args = Array.from(example.matchAll(/"([^"]*)"|(\S+)/g), (match) => match[1] ?? match[2] ?? '');
      expect(() => readRunFlags(parseCommandLine(args).options)).not.toThrow();
    }
    const known = commands.flatMap(optionsOf).flatMap(flagNames);
    for (const flag of overview().match(/--[a-z-]+/g) ?? []) {
      expect([...known, '--help'], flag).toContain(flag);
    }
  });

  test('consists of options with flags, and texts except for the hidden ones', () => {
    const options = commands.flatMap(optionsOf);
    expect(options.filter(({ flags }) => flags === '')).toEqual([]);
    const hidden = new Set(options.flatMap(({ flags, text }) => (text === '' ? flags : [])));
    expect([...hidden]).toEqual(['-p, --print', '--json-deltas', '--job <id>']);
  });

  test('of a command shows every option that is not hidden', () => {
    const run = commandRow('run');
    if (run === undefined) throw new Error('run is a command');
    const text = commandHelp(run);
    for (const option of optionsOf(run)) {
      expect(text.includes(option.flags), option.flags).toBe(option.text !== '');
    }
    for (const line of text.split('\n')) expect(widthOf(line), line).toBeLessThanOrEqual(120);
  });
});
