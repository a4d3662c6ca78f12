import { createRequire } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { keyCodes } from './key-codes.ts';
import type { Wire, WireBrowser, WireContext } from './wire.ts';

const require = createRequire(import.meta.url);
const playwright = require.resolve('playwright-finder/package.json').replace(/package\.json$/, 'lib/');
const selectors = require(`${playwright}utils/isomorphic/locatorUtils.js`) as Record<
  'getByRoleSelector' | 'getByLabelSelector' | 'getByTextSelector',
  (text: string | RegExp, options?: object) => string
>;
const strings = require(`${playwright}utils/isomorphic/stringUtils.js`) as {
  escapeForTextSelector: (text: string | RegExp, isExact: boolean) => string;
};

let script: string | undefined;

/** The functions of Playwright that find elements in a page, as a script for that page. */
function engine(): string {
  script ??= engineScript();
  return script;
}

function engineScript(): string {
  const { source } = require(`${playwright}generated/injectedScriptSource.js`) as { source: string };
  const options = {
    isUnderTest: false,
    sdkLanguage: 'javascript',
    testIdAttributeName: 'data-testid',
    stableRafCount: 1,
    browserName: 'firefox',
    isUtilityWorld: false,
    customEngines: [],
  };
  return `const module = {}; ${source}; globalThis.__finder = new (module.exports.InjectedScript())(globalThis, ${JSON.stringify(options)});`;
}

/** A browser with the part of Playwright's interface that the tests use. Anything else is missing and throws a TypeError. */
export function playwrightLike(browser: WireBrowser): Browser {
  return {
    newContext: async (options: BrowserContextOptions = {}) =>
      new DrivenContext(await browser.newContext(options), options),
    close: async () => await browser.close(),
  } as unknown as Browser;
}

class DrivenContext {
  readonly #context: WireContext;
  readonly #options: BrowserContextOptions;
  #last: Wire | undefined;
  #isClosed = false;

  constructor(context: WireContext, options: BrowserContextOptions) {
    this.#context = context;
    this.#options = options;
  }

  async newPage(): Promise<DrivenPage> {
    this.#last = await this.#context.newPage();
    const page = new DrivenPage(this, this.#last);
    if (this.#options.viewport) await page.setViewportSize(this.#options.viewport);
    return page;
  }

  async cookies(): Promise<readonly object[]> {
    return (await this.#last?.cookies()) ?? [];
  }

  on(): void {
    // Requests are not reported.
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#context.close();
  }
}

type InPage = string | ((argument: never) => unknown);

class DrivenPage {
  readonly #context: DrivenContext;
  readonly #wire: Wire;
  #url = 'about:blank';
  #pointerAt = { x: 0, y: 0 };
  timeoutMs = 20_000;

  constructor(context: DrivenContext, wire: Wire) {
    this.#context = context;
    this.#wire = wire;
  }

  context(): DrivenContext {
    return this.#context;
  }
  /** The address at the time of the last look at the page. */
  url(): string {
    return this.#url;
  }
  async title(): Promise<unknown> {
    return await this.evaluate('document.title');
  }
  get complaints(): readonly string[] {
    return this.#wire.complaints;
  }
  on(): void {
    // Errors are in `complaints`.
  }
  setDefaultTimeout(ms: number): void {
    this.timeoutMs = ms;
  }
  async goto(url: string): Promise<void> {
    await this.#wire.navigate(url);
    await this.evaluate('0');
  }
  async reload(): Promise<void> {
    await this.#wire.reload();
  }
  async goBack(): Promise<void> {
    await this.#wire.back();
  }
  async waitForURL(isWanted: (url: URL) => boolean): Promise<void> {
    const end = Date.now() + this.timeoutMs;
    while (!isWanted(new URL(String(await this.evaluate('location.href'))))) {
      if (Date.now() > end) throw new Error(`The page stays at ${this.#url} (after ${this.timeoutMs} ms)`);
      await wait(20);
    }
  }
  async waitForTimeout(ms: number): Promise<void> {
    await wait(ms);
  }
  async setViewportSize({ width, height }: { width: number; height: number }): Promise<void> {
    await this.#wire.resize(width, height);
    await this.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  }
  async screenshot(): Promise<Buffer> {
    return Buffer.from(await this.#wire.screenshot(), 'base64');
  }

  async evaluate(act: InPage, argument: unknown = null): Promise<unknown> {
    return await this.#run(typeof act === 'string' ? `(() => (${act}))` : String(act), [argument]);
  }

  /** Calls a function in the page with the elements of a selector and an argument. */
  async withElements(selector: string, act: InPage, argument: unknown = null): Promise<unknown> {
    const find = `async (selector, argument) => {
      const { __finder: finder } = globalThis;
      if (finder === undefined) return [];
      return [await (${String(act)})(finder.querySelectorAll(finder.parseSelector(selector), document), argument)];
    }`;
    for (;;) {
      const found = (await this.#run(find, [selector, argument])) as unknown[];
      if (found.length > 0) return found[0];
      await this.evaluate(`(() => { ${engine()} return 0; })()`);
    }
  }

  locator(selector: string, { hasText }: { hasText?: string | RegExp } = {}): DrivenLocator {
    return new DrivenLocator(this, selector + having(hasText));
  }
  getByRole(role: string, options?: object): DrivenLocator {
    return this.locator(selectors.getByRoleSelector(role, options));
  }
  getByLabel(text: string | RegExp, options?: object): DrivenLocator {
    return this.locator(selectors.getByLabelSelector(text, options));
  }
  getByText(text: string | RegExp, options?: object): DrivenLocator {
    return this.locator(selectors.getByTextSelector(text, options));
  }

  readonly keyboard = {
    press: async (keys: string): Promise<void> => {
      const codes = keys.split('+').map((key) => keyCodes[key] ?? key);
      await this.#keys([
        ...codes.map((value) => ({ type: 'keyDown', value })),
        ...codes.toReversed().map((value) => ({ type: 'keyUp', value })),
      ]);
    },
    type: async (text: string): Promise<void> => {
      await this.#keys(
        [...text].flatMap((value) => [
          { type: 'keyDown', value },
          { type: 'keyUp', value },
        ]),
      );
    },
    down: async (key: string): Promise<void> =>
      await this.#keys([{ type: 'keyDown', value: keyCodes[key] ?? key }]),
    up: async (key: string): Promise<void> =>
      await this.#keys([{ type: 'keyUp', value: keyCodes[key] ?? key }]),
  };

  readonly mouse = {
    move: async (x: number, y: number): Promise<void> => await this.#pointer(x, y, 0),
    click: async (x: number, y: number): Promise<void> => await this.#pointer(x, y, 1),
    dblclick: async (x: number, y: number): Promise<void> => await this.#pointer(x, y, 2),
    wheel: async (deltaX: number, deltaY: number): Promise<void> => {
      const scroll = { type: 'scroll', ...this.#pointerAt, deltaX, deltaY };
      await this.#wire.act([{ type: 'wheel', id: 'wheel', actions: [scroll] }]);
    },
  };

  async #pointer(x: number, y: number, clicks: number): Promise<void> {
    const press = [
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ];
    this.#pointerAt = { x: Math.round(x), y: Math.round(y) };
    const move = { type: 'pointerMove', ...this.#pointerAt, duration: 0 };
    const actions = [move, ...Array.from({ length: clicks }, () => press).flat()];
    await this.#wire.act([{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions }]);
  }

  async #keys(actions: readonly object[]): Promise<void> {
    await this.#wire.act([{ type: 'key', id: 'keyboard', actions }]);
  }

  async #run(source: string, args: readonly unknown[]): Promise<unknown> {
    const call = `async (text) => {
      const value = await (${source})(...JSON.parse(text));
      return JSON.stringify([location.href, value === undefined ? null : value]);
    }`;
    const [url, value] = JSON.parse(await this.#wire.call(call, JSON.stringify(args)));
    this.#url = url;
    return value;
  }
}

function having(text: string | RegExp | undefined): string {
  return text === undefined ? '' : ` >> internal:has-text=${strings.escapeForTextSelector(text, false)}`;
}

/** The place at which a click reaches the element, or why there is none now. */
type Place = { readonly x: number; readonly y: number } | string;

class DrivenLocator {
  readonly #page: DrivenPage;
  readonly #selector: string;

  constructor(page: DrivenPage, selector: string) {
    this.#page = page;
    this.#selector = selector;
  }

  #with(rest: string): DrivenLocator {
    return new DrivenLocator(this.#page, `${this.#selector} >> ${rest}`);
  }
  locator(selector: string, { hasText }: { hasText?: string | RegExp } = {}): DrivenLocator {
    return this.#with(selector + having(hasText));
  }
  filter({ hasText }: { hasText: string | RegExp }): DrivenLocator {
    return new DrivenLocator(this.#page, this.#selector + having(hasText));
  }
  getByRole(role: string, options?: object): DrivenLocator {
    return this.#with(selectors.getByRoleSelector(role, options));
  }
  getByLabel(text: string | RegExp, options?: object): DrivenLocator {
    return this.#with(selectors.getByLabelSelector(text, options));
  }
  getByText(text: string | RegExp, options?: object): DrivenLocator {
    return this.#with(selectors.getByTextSelector(text, options));
  }
  first(): DrivenLocator {
    return this.nth(0);
  }
  last(): DrivenLocator {
    return this.nth(-1);
  }
  nth(at: number): DrivenLocator {
    return this.#with(`nth=${at}`);
  }

  async all(): Promise<DrivenLocator[]> {
    return Array.from({ length: await this.count() }, (_, at) => this.nth(at));
  }
  async count(): Promise<number> {
    return (await this.evaluateAll('(all) => all.length')) as number;
  }
  async evaluateAll(act: InPage, argument?: unknown): Promise<unknown> {
    return await this.#page.withElements(this.#selector, act, argument);
  }
  async allInnerTexts(): Promise<unknown> {
    return await this.evaluateAll('(all) => all.map((one) => one.innerText)');
  }
  /** Calls a function with the only element, as soon as there is one. */
  async evaluate(act: InPage, argument?: unknown): Promise<unknown> {
    const once = `async (all, argument) => {
      if (all.length > 1) throw new Error('There are ' + all.length + ' such elements: ' + all.map((one) => one.outerHTML.slice(0, 120)).join(' '));
      return all.length === 0 ? [] : [await (${String(act)})(all[0], argument)];
    }`;
    const [value] = await this.#until(async () => {
      const found = (await this.evaluateAll(once, argument)) as unknown[];
      return found.length === 0 ? 'there is no such element' : found;
    });
    return value;
  }
  async innerText(): Promise<unknown> {
    // WebKit ends the text of a block with a line break.
    return await this.evaluate(`(one) => one.innerText.replace(/\\n$/, '')`);
  }
  async textContent(): Promise<unknown> {
    return await this.evaluate('(one) => one.textContent');
  }
  async inputValue(): Promise<unknown> {
    return await this.evaluate('(one) => one.value');
  }
  async getAttribute(name: string): Promise<unknown> {
    return await this.evaluate('(one, name) => one.getAttribute(name)', name);
  }
  async isVisible(): Promise<unknown> {
    return await this.evaluateAll(
      `(all) => all.some((one) => globalThis.__finder.utils.isElementVisible(one))`,
    );
  }
  async boundingBox(): Promise<unknown> {
    return await this.evaluate(
      '(one) => { const { x, y, width, height } = one.getBoundingClientRect(); return { x, y, width, height }; }',
    );
  }
  async scrollIntoViewIfNeeded(): Promise<void> {
    await this.evaluate(`(one) => one.scrollIntoView({ block: 'nearest' })`);
  }
  async focus(): Promise<void> {
    await this.evaluate('(one) => one.focus()');
  }
  async waitFor({ state = 'visible', timeout }: { state?: string; timeout?: number } = {}): Promise<void> {
    const look = `(all, state) => {
      const seen = all.filter((one) => globalThis.__finder.utils.isElementVisible(one)).length;
      const is = { visible: seen > 0, hidden: seen === 0, attached: all.length > 0, detached: all.length === 0 };
      return is[state] ? [] : 'it has ' + all.length + ' elements, ' + seen + ' visible';
    }`;
    await this.#until(async () => (await this.evaluateAll(look, state)) as string | unknown[], timeout);
  }
  async fill(text: string): Promise<void> {
    await this.evaluate(
      `(one, text) => {
        one.focus();
        one.select();
        document.execCommand(text === '' ? 'delete' : 'insertText', false, text);
      }`,
      text,
    );
  }
  async selectOption(value: string): Promise<void> {
    await this.evaluate(
      `(one, value) => {
        one.value = value;
        one.dispatchEvent(new Event('change', { bubbles: true }));
      }`,
      value,
    );
  }
  async check(): Promise<void> {
    if ((await this.evaluate('(one) => one.checked')) !== true) await this.click();
  }
  async setInputFiles(files: readonly { name: string; mimeType: string; buffer: Buffer }[]): Promise<void> {
    const given = files.map(({ name, mimeType, buffer }) => [name, mimeType, [...buffer]]);
    await this.evaluate(
      `(one, given) => {
        const list = new DataTransfer();
        for (const [name, type, bytes] of given) list.items.add(new File([new Uint8Array(bytes)], name, { type }));
        one.files = list.files;
        one.dispatchEvent(new Event('change', { bubbles: true }));
      }`,
      given,
    );
  }
  async press(keys: string): Promise<void> {
    await this.focus();
    await this.#page.keyboard.press(keys);
  }
  async click(): Promise<void> {
    const { x, y } = await this.#place();
    await this.#page.mouse.click(x, y);
  }
  async dblclick(): Promise<void> {
    const { x, y } = await this.#place();
    await this.#page.mouse.dblclick(x, y);
  }
  async tap(): Promise<void> {
    await this.click();
  }
  async hover(): Promise<void> {
    const { x, y } = await this.#place();
    await this.#page.mouse.move(x, y);
  }

  /** Waits until the element is visible, enabled, at rest and on top; returns its center. */
  async #place(): Promise<{ x: number; y: number }> {
    const look = `async (one) => {
      if (!globalThis.__finder.utils.isElementVisible(one)) return 'it is not visible';
      if (one.disabled) return 'it is disabled';
      one.scrollIntoView({ block: 'nearest' });
      const box = () => one.getBoundingClientRect();
      const { left, top, width, height } = box();
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      if (box().left !== left || box().top !== top) return 'it moves';
      const [x, y] = [left + width / 2, top + height / 2];
      const hit = document.elementFromPoint(x, y);
      if (hit === null || !(one.contains(hit) || hit.closest('label') !== null)) return 'it is covered';
      return { x, y };
    }`;
    return await this.#until(async () => {
      const place = (await this.evaluate(look)) as Place;
      return typeof place === 'string' ? place : [place];
    }).then(([place]) => place as { x: number; y: number });
  }

  /** Repeats a look until it returns a list, and fails with the reason that it returned instead. */
  async #until(
    look: () => Promise<string | unknown[]>,
    ms: number = this.#page.timeoutMs,
  ): Promise<unknown[]> {
    const end = Date.now() + ms;
    for (;;) {
      let found: string | unknown[];
      try {
        found = await look();
      } catch (error) {
        // A page that is being loaded runs no script.
        found = String(error);
      }
      if (typeof found !== 'string') return found;
      if (Date.now() > end) throw new Error(`${this.#selector}: ${found} (after ${ms} ms)`);
      await wait(20);
    }
  }
}
