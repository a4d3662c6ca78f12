import type { Agent, RequestContext } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { fallback, route } from '@cobbler/agent/compose';
import { describe, it } from 'vitest';
import { agentContract } from '../src/agent/agent-contract.ts';
import type { AgentLink } from '../src/agent/setup/subject.ts';
import { describeContract } from '../src/report/describe-contract.ts';
import { scripted } from './subjects.ts';

const refusal = { kind: 'auth', code: 'down', message: 'This agent is down.' } as const;

/** Fails every request at once, so that the next agent does all the work. */
function downLike(agent: Agent): Agent {
  return { ...agent, run: () => Promise.reject(new AgentError(refusal)) };
}

/** Hides the event that announces the next agent, which no single agent emits. */
function withoutAnnouncement(agent: Agent): Agent {
  const hiding = ({ emit, ...context }: RequestContext = {}): RequestContext => ({
    ...context,
    ...(emit && { emit: (event) => (event.type === 'retry' && event.error.code === 'down') || emit(event) }),
  });
  return { ...agent, run: (request, context) => agent.run(request, hiding(context)) };
}

const composed: Readonly<Record<string, (agent: Agent) => Agent>> = {
  'a fallback whose first agent always fails': (agent) =>
    withoutAnnouncement(fallback([downLike(agent), agent])),
  'a route to one agent': (agent) => route({ other: downLike(agent), one: agent }, () => 'one'),
};

for (const [name, compose] of Object.entries(composed)) {
  const subject = { ...scripted, name, create: (link: AgentLink) => compose(scripted.create(link)) };
  describe(`the contract over ${name}`, () => {
    describeContract(agentContract(subject, { seeds: { count: 1 } }), { describe, it });
  });
}
