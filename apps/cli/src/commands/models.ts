import type { KnownModel } from '../config/providers.ts';
import { providers } from '../config/providers.ts';
import type { Settings } from '../config/settings.ts';
import { keyOf, readSettings } from '../config/settings.ts';
import { formatCount } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { screenFor } from '../terminal/screen.ts';
import { styleFor } from '../terminal/style.ts';
import { padEnd } from '../terminal/text-width.ts';

/** Runs `cobbler models`: lists the models, their prices, and the source of each provider's key. */
export async function models(io: Io): Promise<number> {
  const settings = await readSettings(io.env);
  const style = styleFor(screenFor(io.stdout, io.env));
  const lines: string[] = [];
  for (const [name, entry] of Object.entries(providers)) {
    const key = keyOf(settings, name, io.env);
    const source =
      key === undefined
        ? `no key: set ${entry.keyVariable}, or cobbler config set-key ${name}`
        : `key from ${key.source}`;
    const { models: known, priceSource } = await entry.load();
    lines.push(`${style.bold(name)}  ${style.dim(source)}`, ...rowsOf(name, known, settings));
    lines.push(style.dim(`  prices of ${priceSource.on}: ${priceSource.from}`), '');
  }
  lines.push(
    'Prices are in US dollars per million tokens. Use any other model by its id: -m claude:ID, -m openai:ID.',
    'Local and other servers: -m openai:MODEL --base-url URL',
  );
  io.stdout.write(`${withProgramName(lines.join('\n'), io.env)}\n`);
  return 0;
}

function rowsOf(provider: string, known: readonly KnownModel[], settings: Settings): string[] {
  const { value } = settings.model;
  return known.map((model) => {
    const isChosen = settings.provider.value === provider && (model.id === value || model.alias === value);
    const context = model.contextTokens === undefined ? '' : `${formatCount(model.contextTokens)} context`;
    const price =
      model.price === undefined
        ? 'price unknown'
        : `${formatUsdPrice(model.price.input)} in  ${formatUsdPrice(model.price.output)} out`;
    const cells = [
      padEnd(isChosen ? '*' : '', 2) + padEnd(model.alias ?? '', 10),
      padEnd(model.id, 20),
      padEnd(context, 14),
      price,
    ];
    return cells.join(' ').trimEnd();
  });
}

function formatUsdPrice(usd: number): string {
  return `$${usd.toFixed(2)}`.padStart(6);
}
