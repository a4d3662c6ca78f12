import { AgentError } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { makeAgent } from '../config/make-agent.ts';
import type { RawOptions } from '../config/run-flags.ts';
import type { ModelFlags, Settings } from '../config/settings.ts';
import { hostOf, keyOf } from '../config/settings.ts';
import type { Check } from '../doctor/check.ts';
import { checkSetup, failedCheck } from '../doctor/checkup.ts';
import { visibleJson } from '../terminal/escape.ts';
import { formatMs } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { screenFor } from '../terminal/screen.ts';
import type { Style } from '../terminal/style.ts';
import { styleFor } from '../terminal/style.ts';
import { padEnd } from '../terminal/text-width.ts';
import { failureOf } from '../view/failure.ts';

/** Runs `cobbler doctor`: checks the setup. Returns 0 if all checks pass, otherwise 1. */
export async function doctor(options: RawOptions, io: Io): Promise<number> {
  const flags: ModelFlags = {
    // The check must fail fast: no retries.
    retryFor: 0,
    ...(typeof options['model'] === 'string' && { model: options['model'] }),
    ...(typeof options['baseUrl'] === 'string' && { baseURL: options['baseUrl'] }),
  };
  const { checks, settings } = await checkSetup(flags, io);
  if (options['live'] === true && settings !== undefined && checks.every((check) => check.ok)) {
    checks.push(await askModel(settings, io));
  }
  const ok = checks.every((check) => check.ok);
  if (options['json'] === true) io.stdout.write(`${visibleJson(JSON.stringify({ ok, checks }))}\n`);
  else {
    const lines = doctorLines(checks, styleFor(screenFor(io.stdout, io.env)));
    io.stdout.write(`${withProgramName(lines.join('\n'), io.env)}\n`);
  }
  return ok ? 0 : 1;
}

/** Returns the checks as lines: failures first, each with its fix. */
export function doctorLines(checks: readonly Check[], style: Style): string[] {
  const failed = checks.filter((check) => !check.ok);
  const good = checks.filter((check) => check.ok);
  const line = (mark: string, check: Check) => `${mark} ${padEnd(check.name, 14)} ${oneLine(check.found)}`;
  const bad = style.marks.failed === '' ? 'FAIL' : style.marks.failed;
  const fine = style.marks.ok === '' ? 'ok  ' : style.marks.ok;
  return [
    ...failed.flatMap((check) => [
      line(style.red(bad), check),
      ...(check.repair === undefined ? [] : [`  ${style.bold(`fix: ${oneLine(check.repair)}`)}`]),
    ]),
    ...(failed.length > 0 ? [''] : []),
    ...good.map((check) => line(style.green(fine), check)),
  ];
}

/** Requests one token, the only proof that key, address, network and model work together. */
async function askModel(settings: Settings, io: Io): Promise<Check> {
  const provider = settings.provider.value;
  const key = keyOf(settings, provider, io.env);
  const context = { host: hostOf(settings), model: settings.model.value, provider, verbose: true };
  try {
    const { agent } = await makeAgent(settings);
    const began = io.clock.now();
    const answer = await agent.run(
      {
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Say: ok' }] }],
        tools: [],
        config: { maxTokens: 16 },
      },
      { signal: AbortSignal.timeout(60_000) },
    );
    return {
      name: 'live',
      ok: true,
      found: `${answer.model} responded in ${formatMs(io.clock.now() - began)}`,
    };
  } catch (error) {
    if (!AgentError.is(error)) return failedCheck('live', error, 'try again');
    const failure = failureOf(error, { ...context, ...defined({ keySource: key?.source }) });
    return { name: 'live', ok: false, found: failure.what, repair: failure.advice.join(' ') };
  }
}
