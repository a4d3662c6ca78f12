import type { Agent, Capabilities } from '../../interfaces/agent.ts';
import { defined } from '../../values/defined.ts';
import { hasMediaType } from '../../values/file-part.ts';

type Declaration = Omit<Agent, 'run'>;

const nothing: Capabilities = {
  files: [],
  reasoning: false,
  parallelCalls: false,
  output: 'none',
  sampling: false,
  cacheUsage: false,
};

/** Returns what an agent that consists of others can promise: what each of them supports. Its name is that of the first. */
export function declarationOf(agents: readonly Agent[], first: Agent): Declaration {
  // A custom agent can leave out any of them.
  const all = agents.map(({ capabilities }): Capabilities => ({ ...nothing, ...capabilities }));
  const every = (supports: (capabilities: Capabilities) => boolean) => all.every(supports);
  const types = new Set(all.flatMap(({ files }) => files));
  const isNative = every(({ output }) => output === 'native');
  return {
    provider: first.provider,
    model: first.model,
    capabilities: Object.freeze({
      files: Object.freeze([...types].filter((type) => every(({ files }) => hasMediaType(files, type)))),
      reasoning: every(({ reasoning }) => reasoning),
      parallelCalls: every(({ parallelCalls }) => parallelCalls),
      // A model that enforces a schema can also call a tool that has it.
      output: isNative ? 'native' : every(({ output }) => output !== 'none') ? 'tool' : 'none',
      sampling: every(({ sampling }) => sampling),
      cacheUsage: every(({ cacheUsage }) => cacheUsage),
      ...defined({ contextTokens: smallest(all.map(({ contextTokens }) => contextTokens)) }),
    }),
    ...defined({ maxTokens: smallest(agents.map(({ maxTokens }) => maxTokens)) }),
    candidates: Object.freeze(
      agents.flatMap(({ provider, model, candidates }) => candidates ?? [{ provider, model }]),
    ),
  };
}

/** Returns the smallest of the numbers that are known. 0 is unknown. */
function smallest(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((number) => number !== undefined && number > 0) as number[];
  return known.length === 0 ? undefined : Math.min(...known);
}
