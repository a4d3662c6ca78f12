import { defined } from '@cobbler/agent/values';
import type { Programs } from './built.ts';
import type { Part, Row } from './rows.ts';
import { median, quantile } from './rows.ts';
import { pause, Stage } from './stage.ts';

/** The number of readers and prompts. */
export interface PromptSize {
  readonly clients: number;
  readonly prompts: number;
}

/** Number of sessions that share the idle readers. */
const sessions = 20;

/**
 * Measures the delay of accepting a prompt with thousands of readers, and the descriptors that remain open
 * afterwards.
 */
export async function measurePrompts(programs: Programs, home: string, size: PromptSize): Promise<Part> {
  const stage = await Stage.open('cobbler', programs, home);
  try {
    for (let session = 0; session < sessions; session += 1) await stage.makeSession(`other-${session}`);
    await stage.makeSession('spoken-to');
    await startsOf(stage, 'spoken-to', 3);
    await stage.unwatch();
    const descriptors = stage.descriptors();
    const alone = await startsOf(stage, 'spoken-to', size.prompts);
    const others = Array.from({ length: sessions }, (_, index) => `/v1/sessions/other-${index}/events`);
    await stage.watch(size.clients, others);
    const idle = await startsOf(stage, 'spoken-to', size.prompts);
    await stage.unwatch();
    await stage.watch(size.clients, ['/v1/sessions/spoken-to/events']);
    await stage.bytes();
    const watched = await startsOf(stage, 'spoken-to', size.prompts);
    await stage.unwatch();
    // On a busy machine, closing thousands of connections takes time.
    for (let wait = 0; wait < 40 && stage.descriptors() > descriptors; wait += 1) await pause(250);
    return {
      title: `delay until a prompt is accepted, ${size.prompts} times, with ${size.clients} readers in another process`,
      rows: [
        ...rowsOf('without readers', alone),
        ...rowsOf('all readers on other idle sessions', idle, 100),
        ...rowsOf('all readers on this session', watched, 100),
        {
          name: 'additional descriptors after the readers have left',
          value: stage.descriptors() - descriptors,
          unit: '',
          most: 0,
        },
      ],
    };
  } finally {
    await stage.close();
  }
}

/** Returns the milliseconds from each request to its response. */
async function startsOf(stage: Stage, id: string, prompts: number): Promise<number[]> {
  const times: number[] = [];
  for (let prompt = 0; prompt < prompts; prompt += 1) {
    const began = performance.now();
    await stage.prompt(id, 'say 1000');
    times.push(performance.now() - began);
    await idle(stage, id);
  }
  return times;
}

/** Resolves when the run has ended. */
async function idle(stage: Stage, id: string): Promise<void> {
  for (;;) {
    const { json } = await stage.caller.ask('GET', `/v1/sessions/${id}`);
    if (json['runId'] === undefined) return;
    await pause(5);
  }
}

function rowsOf(name: string, times: readonly number[], most?: number): Row[] {
  return [
    { name: `${name}: median`, value: median(times), unit: 'ms' },
    { name: `${name}: p90`, value: quantile(times, 0.9), unit: 'ms', ...defined({ most }) },
    // With so few values, the longest shows what else runs on the machine, so it has no budget.
    { name: `${name}: longest`, value: quantile(times, 1), unit: 'ms' },
  ];
}
