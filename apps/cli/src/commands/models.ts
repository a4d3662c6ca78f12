import { systemRuntime } from '@cobbler/agent';
import { priceList, priceTable } from '../config/price-list.ts';
import type { LoadedProvider } from '../config/providers.ts';
import { providerNames, providers } from '../config/providers.ts';
import type { RawOptions } from '../config/run-flags.ts';
import type { Settings } from '../config/settings.ts';
import { keyOf, readSettings } from '../config/settings.ts';
import { visibleJson } from '../terminal/escape.ts';
import { formatCount, formatPrice } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { screenFor } from '../terminal/screen.ts';
import { styleFor } from '../terminal/style.ts';
import { padEnd } from '../terminal/text-width.ts';

/**
 * Runs `cobbler models`: lists the models, their prices, and the source of each provider's key; with `--prices`, every
 * price with its source and date. `now` is in milliseconds since 1970.
 */
export async function models(
  options: RawOptions,
  io: Io,
  now: number = systemRuntime.now(),
): Promise<number> {
  const settings = await readSettings(io.env);
  if (options['json'] === true) {
    io.stdout.write(`${visibleJson(JSON.stringify(await priceList(settings, now)))}\n`);
    return 0;
  }
  const lines =
    options['prices'] === true ? priceTable(await priceList(settings, now)) : await modelLines(settings, io);
  io.stdout.write(`${withProgramName(lines.join('\n'), io.env)}\n`);
  return 0;
}

async function modelLines(settings: Settings, io: Io): Promise<string[]> {
  const style = styleFor(screenFor(io.stdout, io.env));
  const lines: string[] = [];
  for (const [name, entry] of Object.entries(providers)) {
    const key = keyOf(settings, name, io.env);
    const source =
      key === undefined
        ? `no key: set ${entry.keyVariable}, or run cobbler config set-key ${name}`
        : `key from ${key.source}`;
    lines.push(
      `${style.bold(name)}  ${style.dim(source)}`,
      ...rowsOf(name, await entry.load(), settings),
      '',
    );
  }
  lines.push(
    'Prices are in US dollars per million tokens; to list their sources and dates: cobbler models --prices',
    `Use any other model by its id: ${providerNames.map((name) => `-m ${name}:ID`).join(', ')}.`,
    'Local and other servers: -m openai:MODEL --base-url URL',
  );
  return lines;
}

function rowsOf(provider: string, { models: known, pricing }: LoadedProvider, settings: Settings): string[] {
  const { value } = settings.model;
  return known.map((model) => {
    const isChosen = settings.provider.value === provider && (model.id === value || model.alias === value);
    const context = model.contextTokens === undefined ? '' : `${formatCount(model.contextTokens)} context`;
    const listed = pricing(provider, model.id, 0);
    const price =
      listed === undefined
        ? 'price unknown'
        : `${formatPrice(listed.input).padStart(6)} in  ${formatPrice(listed.output).padStart(6)} out`;
    const cells = [
      padEnd(isChosen ? '*' : '', 2) + padEnd(model.alias ?? '', 10),
      padEnd(model.id, 22),
      padEnd(context, 14),
      price,
    ];
    return cells.join(' ').trimEnd();
  });
}
