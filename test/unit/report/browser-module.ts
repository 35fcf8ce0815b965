/** The page's modules as the browser gets them: JavaScript, compiled with their own options. */

export async function browserModule<Exports>(name: string): Promise<Exports> {
  const address = new URL(`../../../src/report/browser/${name}.js`, import.meta.url).href;
  return (await import(/* @vite-ignore */ address)) as Exports;
}
