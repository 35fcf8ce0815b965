// Finds which of Temporal's messages the command line can meet.

/**
 * Sources use a method of a service as `workflowService.getSystemInfo`, and a message as
 * `temporal.api.common.v1.Payload`. Other messages are met only inside of these.
 * @param all the definitions of the messages, as protobufjs reads them: nested, by name
 * @param sources the texts of the modules that use them
 * @returns the definitions, without Temporal's messages, services and methods that the sources do not use
 * @throws Error if a message refers to one that is not there
 */
export function usedMessages(all, sources) {
  const text = sources.join('\n');
  const called = new Set(Array.from(text.matchAll(/Service\.(\w+)/g), ([, method]) => method.toLowerCase()));
  const isCalled = ([method]) => called.has(method.toLowerCase());
  const used = new Set();
  for (const [name] of text.matchAll(/\btemporal\.api\.\w+\.v\d(?:\.\w+)*/g)) {
    // After the message, the source may name a value of it, or what it does with it.
    const path = name.split('.');
    while (!definitionAt(path)) path.pop();
    use(path);
  }
  const { temporal, google, grpc } = all;
  return { ...usedOf({ temporal }), google, grpc };

  function use(path) {
    const definition = definitionAt(path);
    if (used.has(definition)) return;
    used.add(definition);
    const { fields = {}, methods = {}, nested = {} } = definition;
    for (const { type } of Object.values(fields)) useNamed(type, path);
    for (const [, { requestType, responseType }] of Object.entries(methods).filter(isCalled)) {
      useNamed(requestType, path);
      useNamed(responseType, path);
    }
    for (const name of Object.keys(nested)) use([...path, name]);
    const outside = path.slice(0, -1);
    if (definitionAt(outside)?.fields) use(outside);
  }

  /** A name stands for the nearest that is so called, from the message that mentions it outwards. */
  function useNamed(name, path) {
    if (/^[a-z]+\d*$/.test(name)) return;
    const nearest = path.map((_, depth) => [...path.slice(0, path.length - depth), ...name.split('.')]);
    const found = [...nearest, name.split('.')].find(definitionAt);
    if (!found) throw new Error(`The message ${path.join('.')} refers to ${name}, which is not defined.`);
    use(found);
  }

  function usedOf(definitions) {
    const kept = {};
    for (const [name, definition] of Object.entries(definitions)) {
      const { fields, values, methods, nested } = definition;
      if (fields || values || methods) {
        const ofService = methods && { methods: Object.fromEntries(Object.entries(methods).filter(isCalled)) };
        if (used.has(definition)) kept[name] = { ...definition, ...ofService };
      } else kept[name] = nested ? { ...definition, nested: usedOf(nested) } : definition;
    }
    return kept;
  }

  function definitionAt([first, ...names]) {
    return names.reduce((outer, name) => outer?.nested?.[name], all[first]);
  }
}
