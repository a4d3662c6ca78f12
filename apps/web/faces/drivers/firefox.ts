import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import type { Wire, WireBrowser, WireContext } from './wire.ts';
import { start, wordFrom } from './wire.ts';

/** An unmodified Firefox over WebDriver BiDi. Media features are settings of a Firefox, so each set of them starts one. */
export class FirefoxBrowser implements WireBrowser {
  readonly #path: string;
  readonly #started = new Map<string, Promise<FirefoxProcess>>();

  constructor(path: string) {
    this.#path = path;
  }

  async newContext(options: BrowserContextOptions): Promise<WireContext> {
    const prefs = prefsOf(options);
    const key = JSON.stringify(prefs);
    const running = this.#started.get(key) ?? FirefoxProcess.open(this.#path, prefs);
    this.#started.set(key, running);
    return await (await running).newContext();
  }

  async close(): Promise<void> {
    for (const running of this.#started.values()) await (await running).close();
  }
}

type Prefs = Readonly<Record<string, number | boolean>>;

function prefsOf({ colorScheme, reducedMotion, forcedColors, hasTouch }: BrowserContextOptions): Prefs {
  return {
    'layout.css.prefers-color-scheme.content-override': colorScheme === 'dark' ? 0 : 1,
    'ui.prefersReducedMotion': reducedMotion === 'reduce' ? 1 : 0,
    'browser.display.document_color_use': forcedColors === 'active' ? 2 : 1,
    // A coarse pointer, or a fine one that can hover.
    'ui.primaryPointerCapabilities': hasTouch === true ? 1 : 6,
    'ui.allPointerCapabilities': hasTouch === true ? 1 : 6,
    // Lets tests read the clipboard without a question.
    'dom.events.testing.asyncClipboard': true,
  };
}

interface BidiMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

class FirefoxProcess {
  readonly #socket: WebSocket;
  readonly #end: () => Promise<void>;
  readonly #waiting = new Map<
    number,
    { resolve: (value: BidiMessage) => void; reject: (error: Error) => void }
  >();
  readonly #logs = new Map<unknown, string[]>();
  #asked = 0;

  private constructor(socket: WebSocket, end: () => Promise<void>) {
    this.#socket = socket;
    this.#end = end;
    socket.addEventListener('message', ({ data }) => this.#hear(JSON.parse(String(data))));
  }

  static async open(path: string, prefs: Prefs): Promise<FirefoxProcess> {
    const profile = await mkdtemp(join(tmpdir(), 'page-firefox-'));
    const lines = Object.entries(prefs).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${value});`,
    );
    await writeFile(join(profile, 'user.js'), lines.join('\n'));
    const args = [
      '--headless',
      '--no-remote',
      '--profile',
      profile,
      '--remote-debugging-port=0',
      'about:blank',
    ];
    const program = start([path, ...args], 2, {});
    const socket = new WebSocket(`${await wordFrom(program, 2, /BiDi listening on (ws:\S+)/)}/session`);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    const firefox = new FirefoxProcess(socket, async () => {
      socket.close();
      await program.stop();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    });
    await firefox.ask('session.new', { capabilities: {} });
    await firefox.ask('session.subscribe', { events: ['log.entryAdded'] });
    return firefox;
  }

  async ask(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    this.#asked += 1;
    const id = this.#asked;
    const { result, message } = await new Promise<BidiMessage>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
    if (result === undefined) throw new Error(`Firefox: ${method}: ${message}`);
    return result;
  }

  #hear({ id, method, params, ...rest }: BidiMessage): void {
    if (id !== undefined) this.#waiting.get(id)?.resolve(rest);
    if (method !== 'log.entryAdded' || params?.['level'] !== 'error') return;
    const { context } = params['source'] as { context?: string };
    this.#logs.get(context)?.push(String(params['text']));
  }

  async newContext(): Promise<WireContext> {
    const { userContext } = await this.ask('browser.createUserContext', {});
    return {
      newPage: async () => await this.#newPage(userContext),
      close: async () => void (await this.ask('browser.removeUserContext', { userContext })),
    };
  }

  async #newPage(userContext: unknown): Promise<Wire> {
    const { context } = await this.ask('browsingContext.create', { type: 'tab', userContext });
    const complaints: string[] = [];
    this.#logs.set(context, complaints);
    const ask = async (method: string, params: object) => await this.ask(method, { context, ...params });
    return {
      complaints,
      navigate: async (url) => void (await ask('browsingContext.navigate', { url, wait: 'complete' })),
      reload: async () => void (await ask('browsingContext.reload', { wait: 'complete' })),
      back: async () => void (await ask('browsingContext.traverseHistory', { delta: -1 })),
      call: async (functionDeclaration, value) => {
        const answer = await this.ask('script.callFunction', {
          functionDeclaration,
          arguments: [{ type: 'string', value }],
          target: { context },
          awaitPromise: true,
        });
        if (answer['type'] === 'exception')
          throw new Error((answer['exceptionDetails'] as { text: string }).text);
        return (answer['result'] as { value: string }).value;
      },
      act: async (actions) => void (await ask('input.performActions', { actions })),
      resize: async (width, height) =>
        void (await ask('browsingContext.setViewport', { viewport: { width, height } })),
      cookies: async () => {
        const partition = { type: 'context', context };
        const { cookies } = await this.ask('storage.getCookies', { partition });
        return (cookies as { value: { value: string }; sameSite: string }[]).map((cookie) => ({
          ...cookie,
          value: cookie.value.value,
          sameSite: cookie.sameSite.replace(/^./, (letter) => letter.toUpperCase()),
        }));
      },
      screenshot: async () => (await ask('browsingContext.captureScreenshot', {}))['data'] as string,
    };
  }

  async close(): Promise<void> {
    await this.#end();
  }
}
