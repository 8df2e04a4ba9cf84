"""Shared by the tests of both ROS bridges: a world with an arm of one joint, and an assertion."""
import sys

WORLD = """<?xml version="1.0"?>
<sdf version="1.9" xmlns:volvox="https://volvox.sim/sdf">
<world name="w">
  <volvox:run duration="600" dt="1/50"/>
  {plugin}
  <model name="ground"><static>true</static><link name="ground">
    <collision name="plane"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
  <model name="arm"><pose>0 0 0.05 0 0 0</pose>
    <link name="foot"><inertial><mass>2</mass><inertia><ixx>0.004</ixx><iyy>0.004</iyy><izz>0.006</izz></inertia></inertial>
      <collision name="foot"><geometry><box><size>0.2 0.2 0.1</size></box></geometry></collision></link>
    <link name="head"><pose>0 0 0.08 0 0 0</pose>
      <inertial><mass>0.2</mass><inertia><ixx>0.0002</ixx><iyy>0.0002</iyy><izz>0.0003</izz></inertia></inertial></link>
    <joint name="neck" type="revolute"><parent>foot</parent><child>head</child>
      <axis><xyz>0 0 1</xyz><limit><lower>-2</lower><upper>2</upper><effort>1</effort><velocity>6</velocity></limit></axis></joint>
    <volvox:motor joint="neck" kp="2" kd="0.2"/>
    <volvox:sensor name="range" type="range" link="head" rays="3" field_of_view="1" max_range="5"/>
    <volvox:sensor name="gyro" type="gyroscope" link="head"/>
    <volvox:sensor name="pull" type="accelerometer" link="head"/>
    <volvox:mind behavior="idle"/>
  </model>
</world>
</sdf>
"""


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: expected that {what}")
