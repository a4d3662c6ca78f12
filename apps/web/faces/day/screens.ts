import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { RealTerminal } from '../../../cli/faces/tmux.ts';

const require = createRequire(import.meta.url);

interface XTerm {
  open(element: Element | null): void;
  write(text: string, done: () => void): void;
}

/** Themes of a terminal. */
const themes = {
  dark: { background: '#101418', foreground: '#d8dee9' },
  light: { background: '#ffffff', foreground: '#202428' },
};

/** Saves pictures in the directory of COBBLER_SCREENSHOTS, or none if it is not set. */
export class Screens {
  readonly #browser: Browser;
  readonly #folder = process.env['COBBLER_SCREENSHOTS'];
  #count = 0;

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  #path(name: string): string {
    if (this.#folder === undefined) return '';
    mkdirSync(this.#folder, { recursive: true });
    this.#count += 1;
    return join(this.#folder, `${String(this.#count).padStart(2, '0')}-${name}.png`);
  }

  /** Draws what a terminal shows with the colors that the program chose. */
  async terminal(
    name: string,
    terminal: RealTerminal,
    size: { columns: number; rows: number },
    theme: keyof typeof themes = 'dark',
  ): Promise<void> {
    if (this.#folder === undefined) return;
    const page = await this.#browser.newPage({
      viewport: { width: size.columns * 10, height: size.rows * 20 },
    });
    const file = (path: string) => readFileSync(require.resolve(`@xterm/xterm/${path}`), 'utf8');
    await page.setContent('<body style="margin:0"><div id="t"></div></body>');
    await page.addStyleTag({ content: file('css/xterm.css') });
    await page.addScriptTag({ content: file('lib/xterm.js') });
    const text = terminal.picture();
    await page.evaluate(
      ([drawn, columns, rows, colors]) => {
        const one = new (globalThis as never as { Terminal: new (options: object) => XTerm }).Terminal({
          ...{ cols: columns, rows, theme: colors, fontSize: 14, convertEol: true },
        });
        one.open(document.querySelector('#t'));
        return new Promise<void>((resolve) => one.write(drawn, () => setTimeout(resolve, 100)));
      },
      [text, size.columns, size.rows, themes[theme]] as const,
    );
    await page.locator('.xterm-screen').screenshot({ path: this.#path(name) });
    await page.close();
  }

  /** Takes a picture of a page in three widths, dark and light. */
  async page(name: string, page: Page): Promise<void> {
    if (this.#folder === undefined) return;
    const before = page.viewportSize();
    for (const width of [390, 1280, 1920])
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
        await page.emulateMedia({ colorScheme });
        await page.waitForTimeout(400);
        await page.screenshot({ path: this.#path(`${name}-${width}-${colorScheme}`) });
      }
    if (before !== null) await page.setViewportSize(before);
  }
}
