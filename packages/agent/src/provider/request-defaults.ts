import type { Capabilities, ModelRequest, OutputShape } from '../interfaces/agent.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import type { EnvelopeRequest } from './request/envelope-bytes.ts';

/** What an agent does when a request does not say. */
export interface AgentDefaults {
  readonly provider: string;
  readonly model: string;
  readonly capabilities: Capabilities;
  /** 0 or absent: the provider's own. */
  readonly maxTokens?: number | undefined;
  /** -1 or absent: the provider's own. */
  readonly temperature?: number | undefined;
}

/**
 * What a request asks for, its defaults filled in: the request's own values win over the agent's (S0.3, S0.4).
 * @throws AgentError `invalid` when the model cannot do it.
 */
export function demandOf(request: ModelRequest, agent: AgentDefaults): EnvelopeRequest {
  const { tools, system, config = {}, output } = request;
  const maxTokens = config.maxTokens || agent.maxTokens || undefined;
  const temperature = given(config.temperature) ?? given(agent.temperature);
  if (maxTokens !== undefined) checkMaxTokens(maxTokens, agent);
  if (temperature !== undefined) checkTemperature(temperature, agent);
  if (output !== undefined) checkOutput(output, agent);
  return {
    model: agent.model,
    system,
    tools,
    // Without tools there is nothing to choose from, and services refuse the choice.
    toolChoice: tools.length > 0 ? (config.toolChoice ?? 'auto') : 'auto',
    ...defined({ maxTokens, temperature }),
    ...(config.effort !== undefined && agent.capabilities.reasoning && { effort: config.effort }),
    ...defined({ output }),
  };
}

function given(temperature: number | undefined): number | undefined {
  return temperature === -1 ? undefined : temperature;
}

function checkMaxTokens(maxTokens: number, agent: AgentDefaults): void {
  if (Number.isSafeInteger(maxTokens) && maxTokens > 0) return;
  throw invalid(agent, `maxTokens must be a whole number above 0, or 0 for the default; it is ${maxTokens}.`);
}

function checkTemperature(temperature: number, agent: AgentDefaults): void {
  if (!agent.capabilities.sampling) {
    throw unsupported(
      agent,
      `${agent.model} does not take a temperature. Leave it out or choose another model.`,
    );
  }
  if (temperature >= 0 && temperature <= 2) return;
  throw invalid(agent, `temperature must be from 0 to 2, or -1 for the default; it is ${temperature}.`);
}

function checkOutput(output: OutputShape, agent: AgentDefaults): void {
  if (agent.capabilities.output !== 'native') {
    throw unsupported(agent, `${agent.model} cannot be held to an output schema. Ask for it through a tool.`);
  }
  if (/^[A-Za-z0-9_-]{1,64}$/.test(output.name)) return;
  throw invalid(agent, 'The name of the output shape must be 1 to 64 letters, digits, "_" or "-".');
}

function unsupported(agent: AgentDefaults, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'unsupported', provider: agent.provider, message });
}

function invalid(agent: AgentDefaults, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'bad_option', provider: agent.provider, message });
}
