//! Paths that decide what runs and who is believed. A change of one never merges by itself.

use super::facts::Change;
use super::glob;

/// Paths of one kind, compared without regard to case: some file systems do not look at it either.
pub(super) struct Group {
    pub what: &'static str,
    pub patterns: &'static [&'static str],
}

pub(super) const LONGHAUL: Group =
    Group { what: "Longhaul's own settings", patterns: &[".longhaul/**", ".longhaul", "**/.longhaul/**"] };

pub(super) const INSTRUCTIONS: Group = Group {
    what: "what agents are told",
    patterns: &[
        "**/agents.md",
        "**/agents.override.md",
        "**/claude.md",
        "**/claude.local.md",
        "**/gemini.md",
        "**/.claude/**",
        "**/.codex/**",
        "**/.cursor/**",
        "**/.cursorrules",
        "**/.windsurf/**",
        "**/.windsurfrules",
        "**/.clinerules/**",
        "**/.mcp.json",
        ".github/copilot-instructions.md",
        ".github/instructions/**",
    ],
};

pub(super) const CI: Group = Group {
    what: "continuous integration",
    patterns: &[
        ".github/**",
        ".gitlab-ci.y*ml",
        "**/*.gitlab-ci.y*ml",
        ".gitlab/**",
        "**/action.yml",
        "**/action.yaml",
        ".circleci/**",
        ".buildkite/**",
        "buildkite.y*ml",
        ".woodpecker/**",
        ".woodpecker.y*ml",
        ".crow/**",
        ".crow.y*ml",
        ".forgejo/**",
        ".gitea/**",
        ".drone.*",
        "drone.y*ml",
        ".harness/**",
        ".travis.y*ml",
        ".cirrus.*",
        "**/azure-pipelines*.y*ml",
        ".azure-pipelines/**",
        "azure-pipelines/**",
        ".azuredevops/**",
        ".azure/**",
        ".vsts-ci.y*ml",
        "bitbucket-pipelines.y*ml",
        "**/cloudbuild*.y*ml",
        "**/cloudbuild*.json",
        "**/buildspec*.y*ml",
        "appveyor.y*ml",
        ".appveyor.y*ml",
        "**/jenkinsfile*",
        ".jenkins/**",
        "**/*.jenkinsfile",
        ".teamcity/**",
        "codefresh.y*ml",
        ".codefresh/**",
        "**/bitrise.y*ml",
        "codemagic.y*ml",
        "semaphore.y*ml",
        ".semaphore/**",
        "wercker.y*ml",
        "shippable.y*ml",
        "**/.scrutinizer.y*ml",
        ".builds/**",
        ".build.yml",
        ".tekton/**",
        "screwdriver.y*ml",
        ".zuul.y*ml",
        "zuul.y*ml",
        ".zuul.d/**",
        "zuul.d/**",
        ".taskcluster.y*ml",
        "taskcluster/**",
        ".gocd/**",
        "**/*.gocd.y*ml",
        "concourse/**",
        ".concourse/**",
        ".evergreen.y*ml",
        "evergreen.y*ml",
        ".prow.y*ml",
        ".packit.y*ml",
        "renovate.json*",
        ".renovaterc*",
        "dependabot.y*ml",
        ".mergify.y*ml",
        "vercel.json",
        "netlify.toml",
        "codeowners",
        "docs/codeowners",
    ],
};

pub(super) const HOOKS: Group = Group {
    what: "hooks",
    patterns: &[
        ".husky/**",
        ".githooks/**",
        ".git-hooks/**",
        "githooks/**",
        ".pre-commit-config.yaml",
        ".pre-commit-config.yml",
        ".pre-commit-hooks.yaml",
        "lefthook.yml",
        "lefthook.yaml",
        ".lefthook/**",
        "**/.gitattributes",
        ".gitmodules",
        "**/.envrc",
    ],
};

/// What decides how checks run and what counts as passing.
pub(super) const CHECKS: Group = Group {
    what: "how checks run",
    patterns: &[
        "**/makefile",
        "**/gnumakefile",
        "**/*.mk",
        "**/justfile",
        "**/.justfile",
        "**/taskfile.y*ml",
        "**/tox.ini",
        "**/noxfile.py",
        "**/pytest.ini",
        "**/setup.cfg",
        "**/conftest.py",
        "**/.coveragerc",
        "**/jest.config.*",
        "**/vitest.config.*",
        "**/karma.conf.*",
        "**/.mocharc*",
        "**/playwright.config.*",
        "**/.eslintrc*",
        "**/eslint.config.*",
        "**/phpunit.xml*",
        "**/rakefile",
        "**/.rspec",
        "**/build.gradle*",
        "**/cmakelists.txt",
        "**/meson.build",
        "**/.cargo/**",
        "**/.config/nextest.toml",
        "**/clippy.toml",
        "**/.clippy.toml",
        "**/build.rs",
        "**/rust-toolchain*",
        "**/deno.json*",
        "**/bunfig.toml",
        "**/.npmrc",
        "**/.yarnrc*",
        "**/turbo.json",
        "**/nx.json",
        "**/gulpfile*",
        "**/gruntfile*",
        "**/dodo.py",
        "**/tasks.py",
        "**/fabfile.py",
        "**/sitecustomize.py",
        "**/hatch.toml",
        "**/earthfile",
        "**/build.bazel",
        "**/module.bazel",
        "**/workspace.bazel",
        "**/.bazelrc",
        "**/build.xml",
        "**/*.sbt",
        "**/settings.gradle*",
        "**/gradle.properties",
        "**/gradlew*",
        "**/gradle/wrapper/**",
        "**/mvnw*",
        "**/.mvn/**",
        "**/magefile*.go",
        "**/mise.toml",
        "**/.mise.toml",
        "**/.tool-versions",
        "**/vite.config.*",
        "**/babel.config.*",
        "**/dockerfile*",
        "**/docker-compose*",
        "**/compose.y*ml",
    ],
};

pub(super) const SCHEMA: Group = Group {
    what: "the schema of stored data",
    patterns: &[
        "**/migrations/**",
        "**/migration/**",
        "**/migrate/**",
        "**/alembic/**",
        "**/*.sql",
        "**/schema.rb",
        "**/schema.prisma",
        "**/structure.sql",
        "**/changelog.xml",
        "**/liquibase/**",
        "**/flyway/**",
    ],
};

/// Which versions of others' code are used.
pub(super) const DEPENDENCIES: Group = Group {
    what: "dependencies",
    patterns: &[
        "**/cargo.toml",
        "**/cargo.lock",
        "**/package.json",
        "**/package-lock.json",
        "**/npm-shrinkwrap.json",
        "**/yarn.lock",
        "**/pnpm-lock.yaml",
        "**/bun.lockb",
        "**/bun.lock",
        "**/deno.lock",
        "**/go.mod",
        "**/go.sum",
        "**/pyproject.toml",
        "**/poetry.lock",
        "**/uv.lock",
        "**/pipfile",
        "**/pipfile.lock",
        "**/requirements*.txt",
        "**/gemfile",
        "**/gemfile.lock",
        "**/*.gemspec",
        "**/composer.json",
        "**/composer.lock",
        "**/pom.xml",
        "**/build.gradle",
        "**/build.gradle.kts",
        "**/gradle.lockfile",
        "**/libs.versions.toml",
        "**/mix.exs",
        "**/mix.lock",
        "**/pubspec.yaml",
        "**/pubspec.lock",
        "**/packages.lock.json",
        "**/*.csproj",
        "**/package.swift",
        "**/package.resolved",
    ],
};

/// Where a mistake lets somebody in.
pub(super) const SENSITIVE: Group = Group {
    what: "who may do what",
    patterns: &[
        "**/*auth*",
        "**/*auth*/**",
        "**/*login*",
        "**/*login*/**",
        "**/*password*",
        "**/*passwd*",
        "**/*session*",
        "**/*token*",
        "**/*secret*",
        "**/*crypt*",
        "**/*crypt*/**",
        "**/*permission*",
        "**/*acl*",
        "**/*sandbox*",
        "**/*security*",
        "**/*security*/**",
        "**/*payment*",
        "**/*payment*/**",
    ],
};

/// What never merges by itself, whatever a workspace sets. Schema is among them, dependencies only by their versions.
pub(super) const NEVER: [&Group; 5] = [&LONGHAUL, &INSTRUCTIONS, &CI, &HOOKS, &SCHEMA];

/// The first changed path that one of these names.
pub(super) fn touched(change: &Change, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Option<&str> {
    let patterns: Vec<String> = patterns.into_iter().map(|pattern| pattern.as_ref().to_lowercase()).collect();
    change.paths().find(|path| {
        let path = path.to_lowercase();
        patterns.iter().any(|pattern| glob::fits(pattern, &path))
    })
}

/// `x` is what and never merges by itself.
pub(super) fn in_group(change: &Change, group: &Group) -> Option<String> {
    touched(change, group.patterns).map(|path| format!("`{path}` is changed: {}", group.what))
}

/// Whether one path is of any group that never merges by itself.
pub(super) fn is_never(path: &str) -> bool {
    let path = path.to_lowercase();
    NEVER.iter().flat_map(|group| group.patterns).any(|pattern| glob::fits(pattern, &path))
}
