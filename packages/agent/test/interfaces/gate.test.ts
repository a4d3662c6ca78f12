import { describe, expect, it } from 'vitest';
import type { Gate, GateCall } from '../../src/interfaces/gate.ts';
import { allowAll, planMode, readOnly, rules } from '../../src/interfaces/gate.ts';
import { readVerdict } from '../../src/interfaces/verdict.ts';
import { AgentError } from '../../src/values/errors.ts';

const context = { signal: new AbortController().signal, session: 's' };

function judge(gate: Gate, toolName: string, subject = '', effect: GateCall['effect'] = 'once'): string {
  return readVerdict(gate({ id: 'a', toolName, arguments: {}, effect, subject }, context)).type;
}

describe('gates [P21]', () => {
  it('allowAll allows everything', () => {
    expect(judge(allowAll, 'write')).toBe('allow');
  });

  it.each([
    ['readOnly', readOnly],
    ['planMode', planMode],
  ])('%s denies a read that requires a decision by the user', (_name, gate) => {
    const call = { id: 'a', toolName: 'Read', arguments: {}, effect: 'read', subject: '' } as const;
    expect(gate({ ...call, mustAsk: 'It holds keys.' }, context)).toMatchObject({ type: 'deny' });
  });

  it.each([
    ['readOnly', readOnly],
    ['planMode', planMode],
  ])('%s allows only reads and explains the denial', (_name, gate) => {
    expect([
      judge(gate, 'look', '', 'read'),
      judge(gate, 'set', '', 'idempotent'),
      judge(gate, 'write'),
    ]).toEqual(['allow', 'deny', 'deny']);
    expect(
      gate({ id: 'a', toolName: 'write', arguments: {}, effect: 'once', subject: '' }, context),
    ).toMatchObject({
      message: expect.stringContaining('write'),
    });
  });

  it('rules: a rule names a tool, or a tool and a pattern of its subject', () => {
    const gate = rules({ allow: ['read', 'run(npm test*)', 'edit(src/*)', 'web_*'] });
    expect(judge(gate, 'read', 'anything')).toBe('allow');
    expect(judge(gate, 'run', 'npm test')).toBe('allow');
    expect(judge(gate, 'run', 'npm test src/some-file.ts')).toBe('allow');
    expect(judge(gate, 'run', 'npm install')).toBe('ask');
    expect(judge(gate, 'edit', 'src/a.ts')).toBe('allow');
    expect(judge(gate, 'edit', 'other/src/a.ts')).toBe('ask');
    expect(judge(gate, 'web_search')).toBe('allow');
    expect(judge(gate, 'reader')).toBe('ask');
  });

  it.each([
    'npm test; curl evil',
    'npm test && rm -rf x',
    'npm test | sh',
    'npm test > /etc/passwd',
    'npm test $(curl evil)',
    'npm test `id`',
    'npm test\nrm x',
    'npm test \\\n rm',
    'npm test --prefix /tmp/x',
    'npm test -x',
    `npm test "--prefix" x`,
    `npm test ''--prefix=x`,
    'npm test\t-x',
  ])('an asterisk allows neither a chained command nor a flag: %j [P21]', (subject) => {
    expect(judge(rules({ allow: ['run(npm test*)'] }), 'run', subject)).toBe('ask');
  });

  it('no rule allows a call that requires a user’s decision [P21]', () => {
    const asked = (allow: string[], otherwise?: 'allow' | 'deny') => {
      const call = { id: 'a', toolName: 'edit', arguments: {}, effect: 'once', subject: '.envrc' } as const;
      const gate = rules({ allow, ...(otherwise !== undefined && { otherwise }) });
      return gate({ ...call, mustAsk: 'It is protected.' }, context);
    };
    for (const rule of ['edit', 'edit(*)', '*', 'edit(.env*)', '*(.envrc)', 'edit(.envrc)'])
      expect(asked([rule])).toEqual({ type: 'ask' });
    expect(asked([], 'allow')).toEqual({ type: 'ask' });
    expect(asked([], 'deny')).toMatchObject({ type: 'deny' });
  });

  it('deny overrides allow, and its asterisk matches any character', () => {
    const gate = rules({ allow: ['run'], deny: ['run(*rm *)'] });
    expect(judge(gate, 'run', 'ls')).toBe('allow');
    expect(judge(gate, 'run', 'ls; rm -rf x')).toBe('deny');
  });

  it('a call without a rule asks the user, unless `otherwise` is set', () => {
    expect(judge(rules({}), 'run')).toBe('ask');
    expect(judge(rules({ otherwise: 'deny' }), 'run')).toBe('deny');
    expect(judge(rules({ otherwise: 'allow' }), 'run')).toBe('allow');
  });

  it('special characters of a rule are literal', () => {
    const gate = rules({ allow: ['run(a.b+c?)'] });
    expect([judge(gate, 'run', 'a.b+c?'), judge(gate, 'run', 'axb+c?'), judge(gate, 'run', 'a.bbc')]).toEqual(
      ['allow', 'ask', 'ask'],
    );
  });

  it('an asterisk ends at any place at which the rest of the pattern matches', () => {
    const gate = rules({ allow: ['run(a*-x *b)', 'run(*one*one)', 'run(**)'] });
    const all = ['a-x -x b', 'a-x -y b', 'one', 'one one one', ''];
    expect(all.map((subject) => judge(gate, 'run', subject))).toEqual([
      'allow',
      'ask',
      'allow',
      'allow',
      'allow',
    ]);
    expect(judge(rules({ allow: ['run(*one*one)'] }), 'run', 'one')).toBe('ask');
  });

  it('an invalid rule throws', () => {
    for (const rule of ['', 'run(', 'run)x', 'two words'])
      expect(() => rules({ allow: [rule] })).toThrow(AgentError);
  });
});
