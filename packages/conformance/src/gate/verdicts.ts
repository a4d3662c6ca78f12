/** The arguments of a call. */
export type CallArguments = Readonly<Record<string, unknown>>;

type Verdicts<Given extends readonly unknown[]> = readonly (readonly [
  string,
  (...given: Given) => unknown,
])[];

const hostile = (): never => {
  throw new Error('read by accident');
};

const refusingProxy = (): object =>
  new Proxy({}, { get: hostile, has: hostile, ownKeys: hostile, getOwnPropertyDescriptor: hostile });

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({ type: 'allow' }, {});
  revoke();
  return proxy;
}

function round(): Record<string, unknown> {
  const value: Record<string, unknown> = { command: 'changed' };
  value['self'] = value;
  return value;
}

/** Verdicts that permit the call unchanged. */
export const allowing: Verdicts<[]> = [
  ['the word allow', () => 'allow'],
  ['a promise of the word allow', async () => 'allow'],
  ['{type: allow}', () => ({ type: 'allow' })],
  ['{behavior: allow}', () => ({ behavior: 'allow' })],
  ['a promise of an allow', async () => ({ type: 'allow' })],
  // biome-ignore lint/suspicious/noThenProperty: the case needs a thenable.
  ['a thenable of an allow', () => ({ then: (take: (value: object) => void) => take({ type: 'allow' }) })],
  ['an allow with arguments that are undefined', () => ({ type: 'allow', arguments: undefined })],
  ['an allow with updatedInput that is undefined', () => ({ behavior: 'allow', updatedInput: undefined })],
  ['an allow without a prototype', () => Object.assign(Object.create(null), { type: 'allow' })],
  ['a frozen allow', () => Object.freeze({ type: 'allow' })],
  ['an allow in a proxy', () => new Proxy({ type: 'allow' }, {})],
];

/** Verdicts that permit the call with other arguments. */
export const changing: Verdicts<[wanted: CallArguments]> = [
  ['an allow with arguments', (wanted) => ({ type: 'allow', arguments: wanted })],
  ['an allow with updatedInput', (wanted) => ({ behavior: 'allow', updatedInput: wanted })],
  [
    'a promise of an allow with updatedInput',
    async (wanted) => ({ behavior: 'allow', updatedInput: wanted }),
  ],
  ['an allow with arguments in a proxy', (wanted) => ({ type: 'allow', arguments: new Proxy(wanted, {}) })],
];

/** Returns an object with a property that changes each time it is read. */
function wavering(first: unknown, name: string, rest: object): object {
  let reads = 0;
  const get = () => {
    reads += 1;
    return reads === 1 ? first : { command: 'swapped' };
  };
  return Object.defineProperty({ ...rest }, name, { get, enumerable: true });
}

/** Verdicts that change while they are read or afterwards. */
export const readOnce: Verdicts<[wanted: CallArguments, shown: Record<string, unknown>]> = [
  [
    'an allow whose arguments change when they are read again',
    (wanted) => wavering(wanted, 'arguments', { type: 'allow' }),
  ],
  [
    'an allow with an argument that changes when it is read again',
    (wanted) => ({ type: 'allow', arguments: wavering('changed', 'command', wanted) }),
  ],
  [
    'an allow whose arguments are modified after it was returned',
    (wanted) => {
      const own: Record<string, unknown> = { ...wanted };
      void Promise.resolve().then(async () => {
        for (let turn = 0; turn < 20; turn += 1) await undefined;
        own['command'] = 'spoiled';
      });
      return { type: 'allow', arguments: own };
    },
  ],
  [
    'an allow from a callback that modifies its parameters',
    (_wanted, shown) => {
      for (const value of Object.values(shown))
        if (typeof value === 'object' && value !== null) Object.assign(value, { spoiled: true });
      shown['command'] = 'spoiled';
      return { type: 'allow' };
    },
  ],
];

/** All other verdicts, which must not permit the call. */
export const refusing: Verdicts<[]> = [
  ['{type: deny}', () => ({ type: 'deny' })],
  ['a deny with a reason', () => ({ type: 'deny', message: 'Not today.' })],
  ['{behavior: deny}', () => ({ behavior: 'deny' })],
  ['a deny with interrupt', () => ({ behavior: 'deny', message: 'Stop.', interrupt: true })],
  ['{behavior: ask}', () => ({ behavior: 'ask' })],
  ['{type: ask} without a decision', () => ({ type: 'ask' })],
  ...[
    undefined,
    null,
    true,
    false,
    0,
    1,
    '',
    'deny',
    'Allow',
    ' allow',
    'allow ',
    'allowed',
    'yes',
    1n,
    Symbol('allow'),
  ].map((value) => [`the value ${String(value) || '""'} of type ${typeof value}`, () => value] as const),
  ['an empty object', () => ({})],
  ['an array with an allow', () => [{ type: 'allow' }]],
  ['an array with the word allow', () => ['allow']],
  ['a String object with the word allow', () => Object('allow')],
  ['the word ask without a decision', () => 'ask'],
  ['a promise of the word deny', async () => 'deny'],
  ['a function', () => () => ({ type: 'allow' })],
  ['an allow inside an allow', () => ({ type: { type: 'allow' } })],
  ['a similar word', () => ({ type: 'allowed' })],
  ['a different letter case', () => ({ type: 'Allow' })],
  ['a String object', () => ({ type: Object('allow') })],
  ['an approval decision', () => ({ decision: 'allow' })],
  ['the output of a hook', () => ({ hookSpecificOutput: { permissionDecision: 'allow' } })],
  ['an allow combined with a deny', () => ({ type: 'allow', behavior: 'deny' })],
  ['an allow in both formats', () => ({ type: 'allow', behavior: 'allow' })],
  ['an allow with the argument field of the SDK format', () => ({ type: 'allow', updatedInput: {} })],
  ['an SDK allow with the argument field of Cobbler', () => ({ behavior: 'allow', arguments: {} })],
  ['an inherited allow', () => Object.create({ type: 'allow' })],
  ...[null, 'all', 7, [], () => ({}), /x/, new Map(), round()].map(
    (odd, index) =>
      [`an allow with invalid arguments ${index + 1}`, () => ({ type: 'allow', arguments: odd })] as const,
  ),
  ...[1n, Number.NaN, Symbol('x'), () => 'x', /x/, [undefined], '\ud800'].map(
    (odd, index) =>
      [
        `an allow with an invalid argument ${index + 1}`,
        () => ({ type: 'allow', arguments: { command: odd } }),
      ] as const,
  ),
  [
    'an allow whose arguments have a toJSON method',
    () => ({ type: 'allow', arguments: { toJSON: () => ({}) } }),
  ],
  ['an allow whose arguments cannot be read', () => ({ type: 'allow', arguments: refusingProxy() })],
  ['a verdict that cannot be read', refusingProxy],
  ['a revoked proxy', revoked],
  [
    'a getter that throws',
    () => ({
      get type() {
        return hostile();
      },
    }),
  ],
  ['a callback that throws', hostile],
  [
    'a callback that throws undefined',
    () => {
      // biome-ignore lint/style/useThrowOnlyError: user code can throw any value.
      throw undefined;
    },
  ],
  [
    'a callback that throws an allow',
    () => {
      // biome-ignore lint/style/useThrowOnlyError: user code can throw any value.
      throw { type: 'allow' };
    },
  ],
  [
    'a callback that throws an unreadable object',
    () => {
      throw refusingProxy();
    },
  ],
  ['a rejected promise', () => Promise.reject(new Error('No answer.'))],
  ['a promise rejected with an allow', () => Promise.reject({ type: 'allow' })],
  // biome-ignore lint/suspicious/noThenProperty: the case needs a thenable.
  ['a thenable that throws', () => ({ type: 'allow', then: hostile })],
  ['a promise of an unknown word', () => Promise.resolve(Promise.resolve('permit'))],
];
