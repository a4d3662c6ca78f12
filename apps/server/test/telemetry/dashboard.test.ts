import { readFileSync } from 'node:fs';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connectAndDrop, stalledReader } from '../http/attacks.ts';
import { rig } from '../support/rig.ts';

const deploy = (name: string) => readFileSync(new URL(`../../../../deploy/${name}`, import.meta.url), 'utf8');

/** The labels that Prometheus adds to every series of a server. */
const scraped = ['instance', 'job'];

/** Returns the metrics in an expression, with the labels that select them. */
function metricsIn(text: string): { name: string; labels: string[] }[] {
  return [...text.matchAll(/\b((?:cobbler|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', chosen = '']) => ({
      name,
      labels: [...chosen.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label),
    }),
  );
}

/** Returns the labels of each metric in a text, by metric name. */
function metricsOf(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const line of text.split('\n')) {
    const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === '') continue;
    const known = found.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
    found.set(name, known);
  }
  return found;
}

/** Returns the metrics of a server on which every counted event has occurred. */
async function everything(): Promise<Map<string, Set<string>>> {
  const busy = { kind: 'rate_limit', code: 'overloaded', message: 'Busy.', retryable: true } as const;
  const agent = scriptedAgent(
    [
      { error: busy },
      { calls: [{ name: 'none', arguments: {} }] },
      ...Array.from({ length: 100 }, () => 'x'.repeat(400_000)),
    ],
    { retry: { baseMs: 1, maxMs: 1 } },
  );
  const { ask, watch, server, token } = await rig({
    settings: () => ({ agent, tools: [], toolErrors: 'continue', pricing: () => ({ input: 1, output: 1 }) }),
    limits: { bufferBytes: 64 * 1024 },
  });
  await ask('POST', '/v1/sessions', { id: 's' });
  await connectAndDrop({ url: server.url, token }, 'no HTTP\r\n\r\n');
  const stalled = stalledReader({ url: server.url, token }, 's');
  onTestFinished(() => void stalled.destroy());
  const honest = await watch('/v1/sessions/s/events');
  let text = '';
  for (let round = 0; round < 60 && !text.includes('cobbler_sse_dropped_total'); round += 1) {
    const { json } = await ask('POST', '/v1/sessions/s/prompt', { content: 'Go on.' });
    await honest.until((frame) => frame.json['type'] === 'finished' && frame.json['runId'] === json['runId']);
    text = (await ask('GET', '/metrics')).text;
  }
  return metricsOf(text);
}

describe('the dashboard and alerts of deploy/', () => {
  test('use only metrics that /metrics provides, and every one of them', async () => {
    const dashboard = deploy('dashboard.json');
    const panels = (JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] }).panels;
    const shown = metricsIn(panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n'));
    const alerted = metricsIn(deploy('alerts.yaml'));
    expect(shown.length).toBeGreaterThan(12);
    expect(alerted.length).toBeGreaterThan(8);
    const given = await everything();
    for (const { name, labels } of [...shown, ...alerted, ...metricsIn(dashboard)]) {
      const known = given.get(name);
      expect([name, known !== undefined]).toEqual([name, true]);
      for (const label of labels) expect([name, ...(known ?? []), ...scraped]).toContain(label);
    }
    const families = new Set([...given.keys()].map((name) => name.replace(/_(bucket|sum|count)$/, '')));
    const named = new Set(shown.map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')));
    expect([...families].filter((name) => !named.has(name))).toEqual([]);
  });
});
