import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { BrowserContextOptions } from 'playwright-core';
import { miniBrowser } from './mini-browser.ts';
import type { Started, Wire, WireBrowser, WireContext } from './wire.ts';
import { start, wordFrom } from './wire.ts';

/** Height of the tool bar of MiniBrowser, in pixels. It also makes the window at least 447 pixels wide. */
const barHeight = 38;

/** An unmodified WebKitGTK over WebDriver. It has no headless mode, so it runs on a virtual screen. */
export class WebKitBrowser implements WireBrowser {
  readonly #contexts = new Set<WireContext>();
  #screen: Started | undefined;
  #display: Promise<string> | undefined;

  async newContext({ colorScheme }: BrowserContextOptions): Promise<WireContext> {
    this.#screen ??= start(
      ['Xvfb', '-displayfd', '3', '-screen', '0', '2000x1400x24', '-nolisten', 'tcp'],
      3,
      {},
    );
    this.#display ??= wordFrom(this.#screen, 3, /(\d+)\n/);
    const context = await openContext(await this.#display, colorScheme === 'dark');
    this.#contexts.add(context);
    return context;
  }

  async close(): Promise<void> {
    for (const context of this.#contexts) await context.close();
    await this.#screen?.stop();
  }
}

/** Starts a driver and its only session. */
async function openContext(screen: string, isDark: boolean): Promise<WireContext> {
  const port = await freePort();
  const env = {
    DISPLAY: `:${screen}`,
    GDK_BACKEND: 'x11',
    GTK_THEME: isDark ? 'Adwaita:dark' : 'Adwaita',
    NO_AT_BRIDGE: '1',
  };
  const { stop } = start(['WebKitWebDriver', `--port=${port}`], -1, env);
  const root = `http://127.0.0.1:${port}`;
  await answering(`${root}/status`);
  const options = { binary: miniBrowser(), args: ['--automation'] };
  const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': options } };
  const { sessionId } = (await send('POST', `${root}/session`, { capabilities })) as { sessionId: string };
  const session = `${root}/session/${sessionId}`;
  const windows = new Windows(session);
  let pages = 0;
  let isOpen = true;
  return {
    newPage: async () => {
      const isFirst = pages === 0;
      pages += 1;
      if (isFirst) return pageOf(windows, String(await send('GET', `${session}/window`)));
      const { handle } = (await send('POST', `${session}/window/new`, { type: 'window' })) as {
        handle: string;
      };
      return pageOf(windows, handle);
    },
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      await send('DELETE', session).catch(() => undefined);
      await stop();
    },
  };
}

/** The windows of a session. A command applies to the window that was selected last. */
class Windows {
  readonly #session: string;
  readonly #running = new Set<Promise<unknown>>();
  #selected = '';
  #selecting: Promise<void> | undefined;

  constructor(session: string) {
    this.#session = session;
  }

  async ask(handle: string, method: 'GET' | 'POST', path: string, body: object = {}): Promise<unknown> {
    while (this.#selected !== handle) {
      this.#selecting ??= this.#select(handle);
      await this.#selecting;
    }
    const answer = send(method, this.#session + path, method === 'POST' ? body : undefined);
    this.#running.add(answer);
    return await answer.finally(() => this.#running.delete(answer));
  }

  /** Selects a window after the commands for the other one have ended. */
  async #select(handle: string): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    this.#selected = '';
    await send('POST', `${this.#session}/window`, { handle });
    this.#selected = handle;
    this.#selecting = undefined;
  }
}

function pageOf(windows: Windows, handle: string): Wire {
  const post = async (path: string, body?: object) => await windows.ask(handle, 'POST', path, body);
  return {
    // WebDriver reports no errors of a page.
    complaints: [],
    navigate: async (url) => void (await post('/url', { url })),
    reload: async () => void (await post('/refresh')),
    back: async () => void (await post('/back')),
    call: async (source, text) => {
      const script = `const [text, done] = arguments;
        Promise.resolve().then(() => (${source})(text)).then((value) => done([value]), (error) => done([null, String(error)]));`;
      const [value, error] = (await post('/execute/async', { script, args: [text] })) as [string, string?];
      if (error !== undefined) throw new Error(error);
      return value;
    },
    act: async (actions) => void (await post('/actions', { actions })),
    resize: async (width, height) => void (await post('/window/rect', { width, height: height + barHeight })),
    cookies: async () => (await windows.ask(handle, 'GET', '/cookie')) as object[],
    screenshot: async () => (await windows.ask(handle, 'GET', '/screenshot')) as string,
  };
}

/** Sends a command of WebDriver. */
async function send(method: string, url: string, body?: object): Promise<unknown> {
  const response = await fetch(url, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const { value } = (await response.json()) as { value: unknown };
  if (response.ok) return value;
  const { error, message } = value as { error: string; message: string };
  throw new Error(`WebKit: ${method} ${url.replace(/^.*\/session\/[^/]+/, '')}: ${error}: ${message}`);
}

async function answering(url: string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    try {
      await fetch(url);
      return;
    } catch {
      await wait(50);
    }
  }
  throw new Error('WebKitWebDriver does not answer.');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
