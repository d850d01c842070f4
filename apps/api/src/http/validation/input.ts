type Camel<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Name;

/** The fields of a body in camelCase; what is left out is undefined. */
type Change<Body> = { [Name in keyof Body as Name extends string ? Camel<Name> : never]: Body[Name] };

/** The fields of a body in camelCase; what is left out is null. */
type Input<Body> = {
  [Name in keyof Body as Name extends string ? Camel<Name> : never]-?:
    Exclude<Body[Name], undefined> | (undefined extends Body[Name] ? null : never);
};

const camel = (name: string) => name.replace(/_(\w)/g, (_match, first: string) => first.toUpperCase());

/** A body as a rule takes a change: in camelCase. Fields that are left out, which stay unchanged, are undefined. */
export function changeOf<Body extends object>(body: Body): Change<Body> {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [camel(name), value as unknown]),
  ) as Change<Body>;
}

/** A body as a rule takes a new record: in camelCase. Request classes declare their fields, so what is left out is here, as null. */
export function inputOf<Body extends object>(body: Body): Input<Body> {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [camel(name), (value ?? null) as unknown]),
  ) as Input<Body>;
}
