<#
.SYNOPSIS
Installs rocwire for the person who runs this: no administrator is needed.

.DESCRIPTION
Copies what lies beside this script to %LocalAppData%\Programs\rocwire, puts that folder on the
person's Path and, with -Worker, writes %AppData%\rocwire\config.yaml if there is none.

.PARAMETER Worker
Where the GPUs are: HOST or HOST:PORT.

.PARAMETER TokenFile
A file with the token that the worker's owner gave you. It is copied beside the configuration file.

.PARAMETER CA
A file with the certificate of the worker's CA, if it has one of its own. It is copied there too.

.PARAMETER For
A program, or its folder, that is to use the remote GPUs. The libraries are copied beside it, because
Windows looks there first: before its own folder, where AMD's driver puts libraries of the same names.

.PARAMETER Uninstall
Takes away what was installed. Copies made by -For and the configuration file stay.

.EXAMPLE
powershell -ExecutionPolicy Bypass -File install.ps1 -Worker gpu-server -TokenFile alice.token -CA lab-ca.crt

.EXAMPLE
powershell -ExecutionPolicy Bypass -File install.ps1 -For C:\llama\llama-cli.exe
#>
[CmdletBinding()]
param(
    [string]$Worker,
    [string]$TokenFile,
    [string]$CA,
    [string]$For,
    [switch]$Uninstall
)
$ErrorActionPreference = 'Stop'
$target = Join-Path $env:LOCALAPPDATA 'Programs\rocwire'
$libraries = 'rocwire.dll', 'amdhip64_6.dll', 'amdhip64_7.dll', 'amd_smi.dll'

function Set-OnPath([bool]$wanted) {
    $list = @(([Environment]::GetEnvironmentVariable('Path', 'User') -split ';') | Where-Object { $_ -and $_ -ne $target })
    if ($wanted) { $list += $target }
    [Environment]::SetEnvironmentVariable('Path', ($list -join ';'), 'User')
}

if ($Uninstall) {
    Set-OnPath $false
    if (Test-Path $target) { Remove-Item -Recurse -Force $target }
    Write-Host "Removed $target"
    return
}

New-Item -ItemType Directory -Force $target | Out-Null
Copy-Item -Recurse -Force (Join-Path $PSScriptRoot '*') $target
Get-ChildItem -Recurse -File $target | Unblock-File
Set-OnPath $true
Write-Host "Installed in $target. Windows opened from now on find smi-remote and gpu-exporter."

if ($For) {
    $folder = if (Test-Path -PathType Leaf $For) { Split-Path -Parent (Resolve-Path $For) } else { $For }
    foreach ($name in $libraries) { Copy-Item -Force (Join-Path $target $name) $folder }
    Write-Host "Programs in $folder use the remote GPUs."
}

if ($Worker) {
    $folder = Join-Path $env:APPDATA 'rocwire'
    $file = Join-Path $folder 'config.yaml'
    if (Test-Path $file) {
        Write-Warning "$file is there already and stays as it is."
    } else {
        New-Item -ItemType Directory -Force $folder | Out-Null
        $lines = @('default: gpus', 'workers:', '  gpus:', "    address: '$Worker'")
        if ($TokenFile) {
            Copy-Item -Force $TokenFile (Join-Path $folder 'gpus.token')
            $lines += '    token-file: gpus.token'
        }
        if ($CA) {
            Copy-Item -Force $CA (Join-Path $folder 'gpus-ca.crt')
            $lines += '    tls:', '      ca: gpus-ca.crt'
        }
        [IO.File]::WriteAllLines($file, [string[]]$lines) # UTF-8 without a mark
        Write-Host "Wrote $file"
    }
    & (Join-Path $target 'smi-remote.exe') list
}
