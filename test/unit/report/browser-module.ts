/** The page's own modules, as the browser gets them: JavaScript, whose types only its own compiler options know. */

export async function browserModule<Exports>(name: string): Promise<Exports> {
  const address = new URL(`../../../src/report/browser/${name}.js`, import.meta.url).href;
  return (await import(/* @vite-ignore */ address)) as Exports;
}
