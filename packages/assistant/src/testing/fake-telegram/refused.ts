/** The Bot API's description of a rejected request. */
export class Refused extends Error {
  readonly status: number;
  readonly parameters?: Readonly<Record<string, number>>;

  constructor(status: number, description: string, parameters?: Readonly<Record<string, number>>) {
    super(description);
    this.name = 'Refused';
    this.status = status;
    if (parameters !== undefined) this.parameters = parameters;
  }
}

export function badRequest(description: string): Refused {
  return new Refused(400, `Bad Request: ${description}`);
}
