import type { GateCall } from '@cobbler/agent';
import { webFetchTool } from '@cobbler/tools/web';
import { describe, expect, test } from 'vitest';
import { checkRules } from '../../src/config/choose-tools.ts';
import { hostRules, webAccess } from '../../src/config/permission-plan.ts';
import type { PermissionMode } from '../../src/permissions/permission.ts';
import { Permission } from '../../src/permissions/permission.ts';

const call = (url: string, more: Partial<GateCall> = {}): GateCall => ({
  id: '1',
  toolName: 'web_fetch',
  subject: url,
  effect: 'idempotent',
  arguments: { url },
  ...more,
});

function decide(
  url: string,
  allow: readonly string[],
  deny: readonly string[] = [],
  mode: PermissionMode = 'ask',
) {
  return new Permission(mode, allow, true, { deny }).decide(call(url)).type;
}

describe('rules for web pages', () => {
  test.each([
    ['https://example.com/a?b=c', 'web_fetch(example.com)'],
    ['http://example.com/', 'web_fetch(example.com)'],
    ['https://example.com:8443/', 'web_fetch(example.com:8443)'],
    ['https://a.b.example.com/', 'web_fetch(*.example.com)'],
    ['https://xn--bcher-kva.example/', 'web_fetch(b\u00fccher.example)'],
    ['https://example.com/docs/a?b', 'web_fetch(https://example.com/docs/*)'],
    ['https://any.example/', 'web_fetch'],
  ])('allow %s by %s', (url, rule) => expect(decide(url, [rule])).toBe('allow'));

  test.each([
    ['https://example.com.evil.example/', 'web_fetch(example.com)'],
    ['https://evil.example/?example.com', 'web_fetch(example.com)'],
    ['https://evil.example/example.com', 'web_fetch(*.example.com)'],
    ['https://example.com/', 'web_fetch(*.example.com)'],
    ['https://example.com:8443/', 'web_fetch(example.com)'],
    ['https://example.com/other', 'web_fetch(https://example.com/docs/*)'],
    ['', 'web_fetch(example.com)'],
    ['https://example.com/', 'run_command(example.com)'],
  ])('ask about %j despite %s', (url, rule) => expect(decide(url, [rule])).toBe('ask'));

  test.each([
    ['https://evil.example/', 'web_fetch(evil.example)'],
    ['https://evil.example:8443/', 'web_fetch(evil.example)'],
    ['https://a.evil.example/', 'web_fetch(*.evil.example)'],
    ['https://evil.example/x', 'web_fetch(*evil*)'],
    ['https://evil.example/x', 'web_fetch'],
  ])('deny %s by %s in every mode', (url, rule) => {
    expect([decide(url, ['web_fetch'], [rule]), decide(url, [], [rule], 'yes')]).toEqual(['deny', 'deny']);
  });

  test.each(['https://evil.example../', 'https://evil.example%2e%2e/', 'https://EVIL.example\u3002\u3002/'])(
    'deny %s, which is the same host',
    (url) => {
      const subject = webFetchTool().subject?.({ url }) ?? '';
      expect(decide(subject, ['web_fetch'], ['web_fetch(evil.example)'], 'yes')).toBe('deny');
    },
  );

  test('are offered for the host of a name', () => {
    const offers = (url: string) => new Permission('ask', [], true).offers(call(url));
    expect(offers('https://example.com/a?b')).toEqual(['web_fetch(example.com)']);
    expect(offers('https://example.com:8443/')).toEqual(['web_fetch(example.com:8443)']);
    expect(offers('https://93.184.216.34/')).toEqual([]);
  });

  test.each(['web_fetch(*example.com*)', 'web_fetch(*)', 'web_fetch(https://*/x)', 'web_fetch(*.com)'])(
    'cannot leave the host open: %s',
    (rule) => expect(() => checkRules([rule], [webFetchTool()])).toThrow('allows nothing'),
  );

  test('exist for the hosts that the user allows, except in read-only runs and after untrusted output', () => {
    const rules = hostRules(['example.com', '*.example.org']);
    expect(decide('https://example.com/', rules)).toBe('allow');
    expect(decide('https://example.com/', rules, [], 'read-only')).toBe('deny');
    const mustAsk = 'It can send data, and the conversation contains untrusted output.';
    expect(new Permission('yes', rules, true).decide(call('https://example.com/', { mustAsk })).type).toBe(
      'ask',
    );
  });

  test('name the option that would have allowed a page, if no user can be asked', async () => {
    const permission = new Permission('ask', [], false);
    expect(await permission.gate(call('https://example.com/a'))).toMatchObject({ type: 'deny' });
    expect(permission.missingOptions).toEqual(["--allow 'web_fetch(example.com)'"]);
  });

  test('decide which redirects are followed', () => {
    const permission = new Permission('ask', ['web_fetch(good.example)'], true, {
      deny: ['web_fetch(*.good.example)'],
    });
    const { mayFollow } = webAccess([], () => permission);
    const urls = ['https://good.example/', 'https://x.good.example/', 'https://other.example/'];
    expect(urls.map((url) => mayFollow?.(url, false))).toEqual([true, false, false]);
    expect(urls.map((url) => mayFollow?.(url, true))).toEqual([true, false, true]);
  });
});
