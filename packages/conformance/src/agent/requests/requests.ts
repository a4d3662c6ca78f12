import type { FilePart, ModelRequest, UserPart } from '@cobbler/agent';
import { defineTool } from '@cobbler/agent';
import type { RequestConfig } from '@cobbler/agent/provider';
import { hasMediaType } from '@cobbler/agent/provider';
import type { ReadRequest } from '@cobbler/agent/testing';
import { expect, expectEqual, replies, scriptResponse } from '@cobbler/agent/testing';
import { assistant, lookUp, put, result, user } from '../setup/request-parts.ts';
import { askOnce, contractKey, errorOf, responseOf, withSetup } from '../setup/setup.ts';
import type { AgentLink, CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('request');
const config = group('config');
const capabilities = group('capabilities');

const fine = replies(scriptResponse(['Fine.']));

/** Sends one request that must succeed and returns it as the mock wire reads it. */
async function sent(
  subject: ContractSubject,
  request: Partial<ModelRequest>,
  link: Partial<AgentLink> = {},
): Promise<ReadRequest> {
  const { outcome, exchanges } = await askOnce(subject, fine, request, link);
  responseOf(outcome);
  const read = exchanges[0]?.request;
  expect(read !== undefined, 'a readable request');
  return read;
}

/** Sends a request that must be rejected as invalid before a byte is sent. */
async function refused(subject: ContractSubject, request: Partial<ModelRequest>): Promise<void> {
  const { outcome, exchanges } = await askOnce(subject, fine, request);
  expectEqual(errorOf(outcome).kind, 'invalid', 'the kind of the error');
  expect(errorOf(outcome).message.length > 10, 'an error message that explains the problem');
  expectEqual(exchanges.length, 0, 'the number of requests');
}

function limited(
  what: string,
  own: RequestConfig,
  link: Partial<AgentLink>,
  expected: number,
): CaseDefinition {
  return config(what, async (subject) => {
    expectEqual((await sent(subject, { config: own }, link)).maxTokens, expected, 'the maxTokens sent');
  });
}

function heated(
  what: string,
  own: RequestConfig,
  link: Partial<AgentLink>,
  expected?: number,
): CaseDefinition {
  return config(
    what,
    async (subject) => {
      expectEqual((await sent(subject, { config: own }, link)).temperature, expected, 'the temperature sent');
    },
    'sampling',
  );
}

/** One file of each kind that services handle differently. */
const files: Readonly<Record<string, FilePart>> = {
  images: { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=', name: 'plan.png' },
  recordings: { type: 'file', mediaType: 'audio/wav', data: 'UklGRgQAAABXQVZF', name: 'plan.wav' },
  documents: { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0xLjQ=', name: 'plan.pdf' },
};

function fileCase(kind: string, file: FilePart): CaseDefinition {
  return capabilities(`${kind} are sent in place with type and bytes, or rejected`, async (subject) => {
    const content: UserPart[] = [{ type: 'text', text: 'Before.' }, file, { type: 'text', text: 'After.' }];
    const request: Partial<ModelRequest> = { messages: [{ role: 'user', content }] };
    if (!hasMediaType(await accepted(subject), file.mediaType)) return refused(subject, request);
    const { turns } = await sent(subject, request);
    const [before, found, after] = turns[0]?.parts ?? [];
    expectEqual([before, after], [content[0], content[2]], 'the texts around the file');
    expect(found?.type === 'file', `a file between the texts, found ${found?.type}`);
    expectEqual([found.mediaType, found.data], [file.mediaType, file.data], 'the type and bytes of the file');
  });
}

async function accepted(subject: ContractSubject): Promise<readonly string[]> {
  let files: readonly string[] = [];
  await withSetup(subject, [], async (setup) => {
    files = setup.agent().capabilities.files;
  });
  return files;
}

export const requestCases: readonly CaseDefinition[] = [
  the('is sent to the given address, with the key in one header and nowhere else [S0.2]', async (subject) => {
    await withSetup(subject, [fine], async (setup) => {
      const agent = setup.agent({ baseURL: `${setup.baseURL}/some/path` });
      responseOf(await setup.ask({}, { agent }));
      const exchange = await setup.server.arrival(0);
      expect(
        exchange.url.startsWith(`${setup.baseURL}/some/path/`),
        `the base URL to be used, found ${exchange.url}`,
      );
      const { path, key } = subject.testing.request;
      expectEqual(
        decodeURIComponent(new URL(exchange.url).pathname),
        `/some/path${path.replace('{model}', agent.model)}`,
        'the path',
      );
      expectEqual(exchange.method, 'POST', 'the method');
      expect(
        [...exchange.headers.values()].some((value) => value.includes(contractKey)) === (key !== undefined),
        'the key in one header, unless requests are signed',
      );
      expect(
        !exchange.url.includes(contractKey) && !exchange.text.includes(contractKey),
        'the key nowhere else',
      );
      expect(
        /json/.test(exchange.headers.get('content-type') ?? ''),
        'the content type of the body to be JSON',
      );
    });
  }),
  the('contains the model of the agent [S0.2]', async (subject) => {
    await withSetup(subject, [fine], async (setup) => {
      const agent = setup.agent();
      responseOf(await setup.ask({}, { agent }));
      expect(agent.model !== '', 'the agent to have a model name');
      expectEqual(setup.request().model, agent.model, 'the model in the request');
      expectEqual(
        agent.provider,
        subject.testing.provider,
        'the provider, compared with that of the mock wire',
      );
    });
  }),
  the('declares each tool with name, description and parameters, in order [S0.5]', async (subject) => {
    const { tools } = await sent(subject, { tools: [put, lookUp] });
    const declared = [put, lookUp].map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }));
    expectEqual(tools, declared, 'the tools');
  }),
  the('leaves the tool choice to the model', async (subject) => {
    expectEqual((await sent(subject, {})).toolChoice, 'auto', 'the tool choice');
    expectEqual(
      (await sent(subject, { config: { toolChoice: 'auto' } })).toolChoice,
      'auto',
      'the tool choice',
    );
  }),
  the('still declares the tools when none may be called [S0.2]', async (subject) => {
    const read = await sent(subject, { config: { toolChoice: 'none' } });
    expectEqual(read.toolChoice, 'none', 'the tool choice');
    expectEqual(
      read.tools.map(({ name }) => name),
      ['look_up', 'put'],
      'the tools',
    );
  }),
  the('declares no tools when there are none [S0.2]', async (subject) => {
    expectEqual((await sent(subject, { tools: [] })).tools, [], 'the tools');
  }),
  the('contains the instructions [S0.2]', async (subject) => {
    expectEqual(
      (await sent(subject, { system: 'Be brief.\nBe kind.' })).system,
      'Be brief.\nBe kind.',
      'the instructions',
    );
    expectEqual((await sent(subject, {})).system, '', 'the instructions');
  }),
  the('contains instructions in parts, in order [S0.2]', async (subject) => {
    const { system } = await sent(subject, { system: ['Stable part.', '', 'Date: today.'] });
    expectEqual(system, 'Stable part.\n\nDate: today.', 'the instructions');
  }),
  the('writes equal schemas as equal bytes, whatever their key order', async (subject) => {
    const parameters = { required: ['word'], properties: { word: { type: 'string' } }, type: 'object' };
    await withSetup(subject, [fine, fine], async (setup) => {
      responseOf(await setup.ask({ tools: [defineTool(lookUp)] }));
      responseOf(await setup.ask({ tools: [defineTool({ ...lookUp, parameters })] }));
      expectEqual(setup.server.exchanges[1]?.text, setup.server.exchanges[0]?.text, 'the second body');
    });
  }),
  the('has the same bytes when it is repeated', async (subject) => {
    const messages = () => [
      user('Hi.'),
      assistant('Yes?', { type: 'tool_call', id: 'a', toolName: 'put', arguments: { b: 1, a: 2 } }),
      result('a', 'ok'),
      user('Continue.'),
    ];
    await withSetup(subject, [fine, fine, fine], async (setup) => {
      const request = { system: ['One.', 'Two.'], messages: messages() };
      responseOf(await setup.ask(request));
      responseOf(await setup.ask({ ...request, messages: JSON.parse(JSON.stringify(messages())) }));
      responseOf(await setup.ask(request, { agent: setup.agent() }));
      const [first, second, third] = setup.server.exchanges.map(({ text }) => text);
      expectEqual(second, first, 'the body with a history parsed from JSON');
      expectEqual(third, first, 'the body of another agent');
    });
  }),
  limited(
    'maxTokens of a request overrides that of the agent [S0.3]',
    { maxTokens: 77 },
    { maxTokens: 555 },
    77,
  ),
  limited('maxTokens of the agent applies if the request has none [S0.3]', {}, { maxTokens: 555 }, 555),
  limited(
    'a maxTokens of zero means the default of the agent [S0.3]',
    { maxTokens: 0 },
    { maxTokens: 555 },
    555,
  ),
  config('a request without any maxTokens is still accepted', async (subject) => {
    const { maxTokens } = await sent(subject, {});
    expect(
      maxTokens === undefined || maxTokens >= 1024,
      `no maxTokens or a positive one, found ${maxTokens}`,
    );
  }),
  config('the agent states the maxTokens that it sends if the request has none [B1]', async (subject) => {
    for (const link of [{}, { maxTokens: 555 }, { maxTokens: 0 }]) {
      await withSetup(subject, [fine], async (setup) => {
        const agent = setup.agent(link);
        responseOf(await setup.ask({}, { agent }));
        // A vendor SDK may add its own default when nothing is set. Under a limit the request states a
        // maximum.
        const asked = setup.server.exchanges[0]?.request?.maxTokens;
        const isStated = agent.maxTokens !== undefined || link.maxTokens === 555;
        if (isStated) expectEqual(agent.maxTokens, asked, 'the stated maximum');
      });
    }
  }),
  heated(
    'the temperature of a request overrides that of the agent [S0.4]',
    { temperature: 0.25 },
    { temperature: 0.75 },
    0.25,
  ),
  heated(
    'the temperature of the agent applies if the request has none [S0.4]',
    {},
    { temperature: 0.75 },
    0.75,
  ),
  heated('-1 means the temperature of the agent [S0.4]', { temperature: -1 }, { temperature: 0.75 }, 0.75),
  heated('a temperature of zero is sent as zero [S0.4]', { temperature: 0 }, { temperature: 0.75 }, 0),
  heated('no temperature is sent if none is set', {}, {}),
  ...Object.entries(files).map(([kind, file]) => fileCase(kind, file)),
  capabilities('unsupported features are not declared as capabilities', async (subject) => {
    await withSetup(subject, [], async (setup) => {
      const able = setup.agent().capabilities;
      const { lacks } = subject.testing;
      if (lacks.reasoning !== undefined) expectEqual(able.reasoning, false, 'the capability for reasoning');
      if (lacks.sampling !== undefined) expectEqual(able.sampling, false, 'the capability for sampling');
      if (lacks['cache-usage'] !== undefined)
        expectEqual(able.cacheUsage, false, 'the capability for cache usage');
      expectEqual(
        able.output === 'native',
        lacks['native-output'] === undefined,
        'the capability for native output',
      );
    });
  }),
  ...outputCases(),
];

function outputCases(): CaseDefinition[] {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, people: { type: 'integer' } },
    required: ['city', 'people'],
    additionalProperties: false,
  };
  const output = { name: 'city_facts', schema };
  const the = group('output');
  return [
    the(
      'the output schema is sent, and the response is JSON text [S0.2]',
      async (subject) => {
        const answer = scriptResponse(['{"city":"Bern","people":134000}']);
        const { outcome, exchanges } = await askOnce(subject, replies(answer), { output });
        expectEqual(
          JSON.parse(responseOf(outcome).content),
          { city: 'Bern', people: 134_000 },
          'the text of the response',
        );
        const read = exchanges[0]?.request;
        expectEqual(read?.output?.schema, schema, 'the schema');
        expectEqual(
          read?.tools.map(({ name }) => name),
          ['look_up', 'put'],
          'the tools of the request',
        );
      },
      'native-output',
    ),
    the('no output schema is sent if none is set', async (subject) => {
      expectEqual((await sent(subject, {})).output, undefined, 'the output schema');
    }),
    the('an agent without native output rejects an output schema', async (subject) => {
      if (subject.testing.lacks['native-output'] !== undefined) return refused(subject, { output });
      expectEqual(
        (await sent(subject, { output })).output?.name,
        'city_facts',
        'the name of the output schema',
      );
    }),
  ];
}
